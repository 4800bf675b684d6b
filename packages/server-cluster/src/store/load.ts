/** Fills a store from a zone source. */
import { messageOf, ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';
import type { ZoneInput } from './zone-store.ts';

/** Throws `E_ZONES` for a zone that cannot be served, naming the zone and the record. */
export function loadStore(store: { addZone(zone: ZoneInput): void }, source: ZoneSource): void {
  for (const zone of source.zones()) {
    try {
      store.addZone(zone);
    } catch (error) {
      throw new ServerError(
        'E_ZONES',
        `Zone "${zone.name}" cannot be served: ${messageOf(error)}`,
        'Correct the record, or leave it out.',
        error,
      );
    }
  }
}
