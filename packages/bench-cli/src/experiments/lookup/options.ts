/** What a run is asked for, from its settings: checked together, before anything starts. */
import { isIP } from 'node:net';
import { flagName } from '../../config/setting.ts';
import { BenchError } from '../../errors.ts';
import type { Shown } from './finish.ts';
import type { PolicyMode } from './policy/modes.ts';
import type { Client } from './sampling/sampler.ts';
import { LOOKUP_SETTINGS, type LookupSettings } from './settings.ts';

export interface LookupOptions {
  readonly url: URL;
  readonly durationSeconds: number;
  readonly rounds: number;
  /** Samples start this far apart or more; null for the default, which depends on what is simulated. */
  readonly paceSeconds: number | null;
  readonly target: 'machine' | 'local';
  /** Entries of --servers; empty outside --local. */
  readonly servers: readonly string[];
  readonly clients: readonly Client[];
  readonly search: readonly string[];
  readonly ndots: number;
  readonly hasIpv6: boolean;
  readonly hasEcn: boolean;
  readonly policies: readonly PolicyMode[];
  readonly programDelaySeconds: number;
  readonly corednsVersion: string;
  readonly capture: boolean;
  readonly provision: boolean;
  readonly out: string;
  readonly show: Shown;
}

/** Of settings that are only for some targets, which therefore have none of their own. */
const DEFAULTS = {
  url: 'http://www.example.com',
  localUrl: 'http://site.example.com',
  servers: ['dinodns'],
  programDelaySeconds: 0.2,
  ndots: 1,
} as const;

function usage(message: string, fix: string): BenchError {
  return new BenchError('E_USAGE', message, { fix });
}

/** @throws BenchError `E_USAGE` for what is no URL of a web page behind a name */
export function parseTargetUrl(text: string): URL {
  const fix = 'Give a URL with a name, for example --url http://www.example.com.';
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw usage(`--url: "${text}" is not the URL of a web page`, fix);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) throw usage(`--url: ${host} is an address: there is no name to look up`, fix);
  if (host.replace(/^\*\./, '').includes('*')) {
    throw usage(
      `--url: a star stands for a whole label, the first one, not as in "${host}"`,
      'Give a URL of a wildcard record, for example http://*.example.com.',
    );
  }
  return url;
}

/** The port that a URL leads to. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

const LOCAL_ONLY = ['servers', 'simulatePolicy', 'programDelay', 'search', 'ndots', 'ipv6', 'ecn'] as const;

/**
 * Refuses flags that say nothing without --local. Those of the environment may be meant for other commands.
 * @throws BenchError `E_USAGE`
 */
export function demandLocal({ local }: LookupSettings, flags: Readonly<Record<string, unknown>>): void {
  const given = LOCAL_ONLY.find((name) => flags[name] !== undefined);
  if (local || given === undefined) return;
  throw usage(
    `${flagName(LOOKUP_SETTINGS[given])} needs --local`,
    'Add --local, which measures between two network namespaces of this machine, or omit it.',
  );
}

function demandLocalUrl({ protocol, hostname }: URL): void {
  if (hostname.includes('*')) {
    throw usage(
      '--url: the zone of --local has no wildcard; a simulated policy has a new address for each sample',
      'Give --url http://site.example.com.',
    );
  }
  if (protocol === 'https:') {
    throw usage('--url: the site of --local answers http only', 'Give --url http://site.example.com.');
  }
  if (!hostname.includes('.') || hostname.endsWith('.localhost')) {
    throw usage(
      `--url: "${hostname}" has no domain that a server could serve`,
      'Give --url http://site.example.com.',
    );
  }
}

function demandPolicy({ programDelay, simulatePolicy, ipv6 }: LookupSettings): void {
  if (programDelay !== undefined && simulatePolicy === undefined) {
    throw usage(
      '--program-delay is the delay of a simulated policy',
      'Add --simulate-policy NoDelay, or omit it.',
    );
  }
  if (ipv6 === true && simulatePolicy !== undefined) {
    throw usage(
      '--ipv6 and --simulate-policy exclude each other: the simulated agent knows IPv4 only',
      'Omit one.',
    );
  }
}

function demandHttp({ protocol }: URL, clients: readonly Client[]): void {
  if (protocol === 'http:' || !clients.includes('builtin')) return;
  throw usage('--client: the built-in client knows no https', 'Give --client curl, or a URL with http.');
}

/** @throws BenchError `E_USAGE`, one for the first problem */
export function lookupOptions(settings: LookupSettings, show: Shown): LookupOptions {
  const { local, duration, trials, pace, servers, client } = settings;
  demandPolicy(settings);
  const url = parseTargetUrl(settings.url ?? (local ? DEFAULTS.localUrl : DEFAULTS.url));
  if (local) demandLocalUrl(url);
  const clients = [...new Set(client)];
  demandHttp(url, clients);
  if (duration < trials) {
    throw usage(
      `--duration: ${duration} s are too short for ${trials} trials of at least a second`,
      'Give a longer --duration or fewer --trials.',
    );
  }
  return {
    url,
    durationSeconds: duration,
    rounds: trials,
    paceSeconds: pace ?? null,
    target: local ? 'local' : 'machine',
    servers: local ? (servers ?? DEFAULTS.servers) : [],
    clients,
    search: settings.search ?? [],
    ndots: settings.ndots ?? DEFAULTS.ndots,
    hasIpv6: settings.ipv6 === true,
    hasEcn: settings.ecn === true,
    policies: [...new Set(settings.simulatePolicy)],
    programDelaySeconds: settings.programDelay ?? DEFAULTS.programDelaySeconds,
    corednsVersion: settings.corednsVersion,
    capture: settings.capture,
    provision: settings.provision,
    out: settings.out,
    show,
  };
}
