/** The flags of `bench lookup`, checked before anything starts. */
import { isIP } from 'node:net';
import { nearest } from '@dinodns-bench/program';
import { z } from 'zod';
import { secondsFromText } from '../../config/value-schemas.ts';
import { BenchError } from '../../errors.ts';
import type { Shown } from './finish.ts';
import { POLICY_MODES, type PolicyMode } from './policy/modes.ts';
import { CLIENTS, type Client } from './sampling/sampler.ts';

/** As commander gives them. */
export interface LookupFlags {
  readonly url?: string;
  readonly duration?: string;
  readonly trials?: string;
  readonly pace?: string;
  readonly local?: boolean;
  readonly servers?: string;
  readonly client?: string;
  readonly search?: string;
  readonly ndots?: string;
  readonly ipv6?: boolean;
  readonly ecn?: boolean;
  readonly simulatePolicy?: string;
  readonly programDelay?: string;
  readonly domains?: string;
  readonly corednsVersion?: string;
  /** False with --no-capture. */
  readonly capture?: boolean;
  /** False with --no-provision. */
  readonly provision?: boolean;
  readonly out?: string;
  readonly json?: boolean;
  readonly format?: string;
  readonly config?: string;
  readonly target?: string;
}

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
  readonly corednsVersion: string | undefined;
  readonly capture: boolean;
  readonly provision: boolean;
  readonly out: string;
  readonly show: Shown;
}

export const LOOKUP_DEFAULTS = {
  url: 'http://www.example.com',
  localUrl: 'http://site.example.com',
  duration: '60',
  trials: '6',
  server: 'dinodns',
  programDelay: '200ms',
  out: 'results',
  ndots: '1',
} as const;

export function usage(message: string, fix: string): BenchError {
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
  return url;
}

/** The port that a URL leads to. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** `0.2`, `200ms`, `2s`: seconds. */
function parseTime(flag: string, text: string, max: number, fix: string): number {
  const milliseconds = /^\s*(\d+(?:\.\d+)?)\s*ms\s*$/.exec(text)?.[1];
  const value = milliseconds === undefined ? secondsFromText(text) : Number(milliseconds) / 1000;
  const parsed = z.number().min(0).max(max).safeParse(value);
  if (parsed.success) return parsed.data;
  throw usage(`${flag}: "${text}" is not a time from 0 to ${max} s`, fix);
}

/** curl gives up after 8 s. */
const MAX_DELAY_SECONDS = 5;

/** Fewer than one sample a minute tell nothing. */
const MAX_PACE_SECONDS = 60;

export function numberOf(flag: string, value: unknown, schema: z.ZodNumber, fix: string): number {
  const parsed = schema.safeParse(typeof value === 'string' ? secondsFromText(value) : value);
  if (!parsed.success) throw usage(`${flag}: "${value}" is not allowed`, fix);
  return parsed.data;
}

export function choicesOf<const T extends string>(flag: string, text: string, known: readonly T[]): T[] {
  const words = text.split(',').map((word) => word.trim());
  return [...new Set(words)].map((word) => {
    const found = known.find((choice) => choice.toLowerCase() === word.toLowerCase());
    if (found !== undefined) return found;
    const suggestion = nearest(word, [...known]);
    throw usage(
      `${flag}: there is no "${word}"`,
      suggestion === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean "${suggestion}"?`,
    );
  });
}

/** What is measured in --local only, by flags. */
function demandLocal(flags: LookupFlags): void {
  if (flags.local === true) return;
  const given = [
    ['--servers', flags.servers],
    ['--simulate-policy', flags.simulatePolicy],
    ['--program-delay', flags.programDelay],
    ['--search', flags.search],
    ['--ndots', flags.ndots],
    ['--ipv6', flags.ipv6],
    ['--ecn', flags.ecn],
  ].find(([, value]) => value !== undefined);
  if (given === undefined) return;
  throw usage(
    `${given[0]} needs --local`,
    'Add --local, which measures between two network namespaces of this machine, or omit it.',
  );
}

function demandLocalUrl({ protocol, hostname }: URL): void {
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

function demandPolicy({ programDelay, simulatePolicy, ipv6 }: LookupFlags): void {
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

const SHOWN = ['terminal', 'json', 'tiger-bench'] as const;

/** What goes to stdout. */
export function shownOf({ json, format }: Pick<LookupFlags, 'json' | 'format'>): Shown {
  if (json === true) return 'json';
  return choicesOf('--format', format ?? 'terminal', SHOWN)[0] ?? 'terminal';
}

/** @throws BenchError `E_USAGE`, one for the first problem */
export function lookupOptions(flags: LookupFlags): LookupOptions {
  const isLocal = flags.local === true;
  demandLocal(flags);
  demandPolicy(flags);
  const url = parseTargetUrl(flags.url ?? (isLocal ? LOOKUP_DEFAULTS.localUrl : LOOKUP_DEFAULTS.url));
  if (isLocal) demandLocalUrl(url);
  const clients = choicesOf('--client', flags.client ?? 'curl', CLIENTS);
  demandHttp(url, clients);
  const { domains, duration = LOOKUP_DEFAULTS.duration, trials = LOOKUP_DEFAULTS.trials } = flags;
  if (domains !== undefined) {
    numberOf('--domains', domains, z.int().min(1), 'Give 1 or more: the name of --url is the first.');
  }
  const rounds = numberOf('--trials', trials, z.int().min(1).max(1000), 'Give a whole number of at least 1.');
  const durationSeconds = numberOf('--duration', duration, z.number().positive(), 'Give seconds, 60s or 2m.');
  if (durationSeconds < rounds) {
    throw usage(
      `--duration: ${durationSeconds} s are too short for ${rounds} trials of at least a second`,
      'Give a longer --duration or fewer --trials.',
    );
  }
  return {
    url,
    durationSeconds,
    rounds,
    paceSeconds:
      flags.pace === undefined
        ? null
        : parseTime('--pace', flags.pace, MAX_PACE_SECONDS, 'Give 500ms or 1s.'),
    target: isLocal ? 'local' : 'machine',
    servers: isLocal ? (flags.servers ?? LOOKUP_DEFAULTS.server).split(',').map((name) => name.trim()) : [],
    clients,
    search: flags.search === undefined ? [] : flags.search.split(',').map((domain) => domain.trim()),
    ndots: numberOf('--ndots', flags.ndots ?? LOOKUP_DEFAULTS.ndots, z.int().min(0).max(15), 'Give 0 to 15.'),
    hasIpv6: flags.ipv6 === true,
    hasEcn: flags.ecn === true,
    policies:
      flags.simulatePolicy === undefined
        ? []
        : choicesOf('--simulate-policy', flags.simulatePolicy, POLICY_MODES),
    programDelaySeconds: parseTime(
      '--program-delay',
      flags.programDelay ?? LOOKUP_DEFAULTS.programDelay,
      MAX_DELAY_SECONDS,
      'Give 200ms or 1.5s.',
    ),
    corednsVersion: flags.corednsVersion,
    capture: flags.capture !== false,
    provision: flags.provision !== false,
    out: flags.out ?? LOOKUP_DEFAULTS.out,
    show: shownOf(flags),
  };
}
