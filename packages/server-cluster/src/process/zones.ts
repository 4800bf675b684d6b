/** Where a process gets its zones and secrets from. */
import { ServerError } from '../errors.ts';
import { cookieSecrets } from '../limits/cookies.ts';
import { pemOf, readCredentials } from '../network/tls-credentials.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { Secrets } from '../profiles/profile.ts';
import type { Zones } from '../store/load.ts';
import { Slices } from '../store/slices.ts';
import { ZonesFile } from '../store/zones-file.ts';
import { ZoneFiles } from '../zone-files/zone-files.ts';

/** The zones of the options, unless they are zone files. */
export async function zonesOf(options: ResolvedOptions): Promise<ZoneSource> {
  return options.zonesFile === undefined ? options.zones() : new ZonesFile(options.zonesFile);
}

/** Reads the zones of the options anew at each call. Of zone files, it keeps the records of valid ones in `directory`. */
export function zonesReader(options: ResolvedOptions, directory: () => string): () => Promise<Zones> {
  const { zoneFiles, log } = options;
  if (zoneFiles === undefined) return () => zonesOf(options);
  const files = new ZoneFiles(zoneFiles, log);
  return () => files.load(directory(), new Slices());
}

/** Reads the files that the options name. Throws a `ServerError` if they cannot be used. */
export function secretsOf({ cookies, tls }: ResolvedOptions): Secrets {
  return {
    cookies: cookies === false ? [] : cookieSecrets(cookies?.secretFile),
    ...(tls === undefined ? {} : { pem: pemOf(readCredentials(tls)) }),
  };
}

export function cannotReload(): ServerError {
  return new ServerError(
    'E_UNSUPPORTED',
    'The published framework cannot reload zones.',
    'Restart the server, or choose --profile dinodns.',
  );
}
