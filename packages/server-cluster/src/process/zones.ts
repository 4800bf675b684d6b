/** Where a process gets its zones from. */
import { ServerError } from '../errors.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { Managed } from '../profiles/profile.ts';
import type { Zones } from '../store/load.ts';
import { ZonesFile } from '../store/zones-file.ts';

/** The zones of the options, unless they are zone files. */
export async function zonesOf(options: ResolvedOptions): Promise<ZoneSource> {
  return options.zonesFile === undefined ? options.zones() : new ZonesFile(options.zonesFile);
}

/** Loads zones, serves them, and logs how long that took. */
export async function reloadHere(managed: Managed, options: ResolvedOptions, zones: Zones): Promise<void> {
  const start = performance.now();
  const swap = await managed.prepare(zones);
  swap();
  options.log.info({ seconds: (performance.now() - start) / 1000 }, 'Zones reloaded');
}

export function cannotReload(): ServerError {
  return new ServerError(
    'E_UNSUPPORTED',
    'The published framework cannot reload zones.',
    'Restart the server, or choose --profile dinodns.',
  );
}
