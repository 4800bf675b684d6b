/** What a server can be told, with defaults filled in and everything impossible refused at once. */
import { isIP } from 'node:net';
import { ServerError } from './errors.ts';
import type { ZoneInput } from './store/zone-store.ts';

export const PROFILES = ['dinodns', 'stock'] as const;
export type ProfileName = (typeof PROFILES)[number];

export const MODES = ['single', 'multi'] as const;
export type Mode = (typeof MODES)[number];

export const DEFAULT_ADDRESS = '127.0.0.1';
export const DEFAULT_PORT = 5300;
/** More processes than any machine has CPUs for are a mistake, and end in a machine that swaps. */
export const MAX_WORKERS = 1024;

/** Zones to serve: a `ZoneSet` of `@dinodns-bench/zones`, or anything else that yields zones anew each time. */
export interface ZoneSource {
  zones(): Iterable<ZoneInput>;
}

export interface ServerOptions {
  /** `dinodns`: with this package's networks and store; `stock`: the published framework. Default: `dinodns`. */
  readonly profile?: ProfileName;
  /** One process, or one per CPU that may be used. Default: `single`. */
  readonly mode?: Mode;
  /** IPv4 or IPv6 addresses; `::` takes IPv4 as well. Default: `127.0.0.1`. */
  readonly address?: string | readonly string[];
  /** UDP and TCP; 0 picks one that is free for both. Default: 5300. */
  readonly port?: number;
  /** Processes in mode `multi`. Default: `usableCpus().cpus`. */
  readonly workers?: number;
  /** Default: the 100 zones of the published benchmark, `defineZoneSet()`. */
  readonly zones?: ZoneSource;
}

export interface ResolvedOptions {
  readonly profile: ProfileName;
  readonly mode: Mode;
  readonly addresses: readonly [string, ...string[]];
  readonly port: number;
  /** Undefined: as many as CPUs can be used. */
  readonly workers: number | undefined;
  readonly zones: ZoneSource;
}

function usage(message: string, fix: string): ServerError {
  return new ServerError('E_USAGE', message, fix);
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw usage(`${name} ${value} is not possible.`, `Give a whole number from ${least} to ${most}.`);
}

function resolveAddresses(address: string | readonly string[]): readonly [string, ...string[]] {
  const [first, ...rest] = new Set(typeof address === 'string' ? [address] : address);
  if (first === undefined) throw usage('No address is given.', 'Give an IPv4 or IPv6 address.');
  for (const candidate of [first, ...rest]) {
    if (isIP(candidate) === 0) {
      throw usage(
        `"${candidate}" is not an IP address.`,
        'Give an IPv4 or IPv6 address, like 127.0.0.1 or ::1; a server does not look up names.',
      );
    }
  }
  return [first, ...rest];
}

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw usage(`The ${name} "${value}" is unknown.`, `Choose one of: ${choices.join(', ')}.`);
}

/** Fills in defaults. Throws `E_USAGE` for what cannot be. */
export function resolveOptions(options: ServerOptions, defaultZones: () => ZoneSource): ResolvedOptions {
  const mode = oneOf('mode', options.mode ?? 'single', MODES);
  const port = options.port ?? DEFAULT_PORT;
  checkWhole('The port', port, 0, 65_535);
  if (options.workers !== undefined) {
    checkWhole('The number of workers', options.workers, 1, MAX_WORKERS);
    if (mode === 'single' && options.workers !== 1) {
      throw usage(`Mode single has one process, not ${options.workers}.`, 'Choose --mode multi for several.');
    }
  }
  return {
    profile: oneOf('profile', options.profile ?? 'dinodns', PROFILES),
    mode,
    addresses: resolveAddresses(options.address ?? DEFAULT_ADDRESS),
    port,
    workers: options.workers,
    zones: options.zones ?? defaultZones(),
  };
}
