/** Where a process gets its zones from. */
import { writtenZones } from '../cluster/zones-snapshot.ts';
import { ServerError } from '../errors.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { Managed } from '../profiles/profile.ts';
import { readZones } from '../zone-source.ts';

/** The zones of the given file, else of the options. Rejects with `E_ZONES` or `E_UNREADABLE`. */
export async function loadZones(options: ResolvedOptions, file: string | null = null): Promise<ZoneSource> {
  if (file !== null) return writtenZones(file) ?? readZones(file);
  return options.zonesFile === undefined ? options.zones() : readZones(options.zonesFile);
}

/** Loads zones, serves them, and logs how long that took. */
export async function reloadHere(
  managed: Managed,
  options: ResolvedOptions,
  zones: ZoneSource,
): Promise<void> {
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
