/** Where a process gets its zones and secrets from. */
import { ServerError } from '../errors.ts';
import { cookieSecrets } from '../limits/cookies.ts';
import { pemOf, readCredentials } from '../network/tls-credentials.ts';
import type { ResolvedOptions, ZoneSource } from '../options.ts';
import type { Managed, Secrets } from '../profiles/profile.ts';
import type { Zones } from '../store/load.ts';
import { ZonesFile } from '../store/zones-file.ts';

/** The zones of the options, unless they are zone files. */
export async function zonesOf(options: ResolvedOptions): Promise<ZoneSource> {
  return options.zonesFile === undefined ? options.zones() : new ZonesFile(options.zonesFile);
}

/** Reads the files that the options name. Throws a `ServerError` if they cannot be used. */
export function secretsOf({ cookies, tls }: ResolvedOptions): Secrets {
  const secrets = cookies === false ? [] : cookieSecrets(cookies?.secretFile);
  return {
    cookies: secrets.map((secret) => Buffer.from(secret).toString('hex')),
    ...(tls === undefined ? {} : { pem: pemOf(readCredentials(tls)) }),
  };
}

/** Loads zones, serves them, and logs how long that took. */
export async function reloadHere(managed: Managed, options: ResolvedOptions, zones: Zones): Promise<void> {
  const start = performance.now();
  const swap = await managed.prepare(zones, secretsOf(options));
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
