/** The words in braces that a server file can use, and what they stand for. Pure. */
import { nearest } from '@dinodns-bench/program';
import type { InstanceRequest } from '../server.ts';

/** What each stands for, as the documentation and the error for an unknown one have it. */
export const PLACEHOLDERS = {
  address: 'the address to listen on',
  port: 'the port to listen on',
  zones: 'the directory of the zone files, which is new for each start',
  'zone-file': 'the first file of zones.format',
  transport: 'udp, tcp, tls or https; the port is for this one',
  certificate: 'the certificate of the run (PEM), for tls and https',
  key: 'its private key (PEM)',
  mode: 'single or multi',
  workers: 'threads or processes that should answer queries',
  cpus: 'the CPU allowance in cores, perhaps a fraction',
  node: 'the Node.js that runs bench',
} as const;

export type Placeholder = keyof typeof PLACEHOLDERS;

const NAMES = Object.keys(PLACEHOLDERS) as readonly Placeholder[];

/** `{port}`; `{{port}}` is the text `{port}`. */
const PATTERN = /\{\{([a-z][\w-]*)\}\}|\{([a-z][\w-]*)\}/g;

const isPlaceholder = (name: string): name is Placeholder => NAMES.some((known) => known === name);

/** Placeholders in `text` that do not exist, each with what may be meant. */
export function unknownPlaceholders(text: string): string[] {
  return [...text.matchAll(PATTERN)].flatMap(([, , name]) => {
    if (name === undefined || isPlaceholder(name)) return [];
    const meant = nearest(name, NAMES);
    const hint = meant === undefined ? `there are {${NAMES.join('}, {')}}` : `did you mean {${meant}}?`;
    return [`{${name}} is not known: ${hint} (for the text itself, write {{${name}}})`];
  });
}

/** The placeholders that `text` uses. */
export function placeholdersIn(text: string): Placeholder[] {
  return [...text.matchAll(PATTERN)].flatMap(([, , name = '']) => (isPlaceholder(name) ? [name] : []));
}

export type Values = Readonly<Record<Placeholder, string>>;

/** `text` with the values in place. */
export function filled(text: string, values: Values): string {
  return text.replaceAll(PATTERN, (all, literal?: string, name?: string) => {
    if (literal !== undefined) return `{${literal}}`;
    return name !== undefined && isPlaceholder(name) ? values[name] : all;
  });
}

/** Threads or processes for one instance: one in `single` mode, else one for each core of its allowance. */
export function workersFor({
  mode,
  cpus,
  workerCpus = cpus,
}: Pick<InstanceRequest, 'mode' | 'cpus' | 'workerCpus'>): number {
  return mode === 'single' ? 1 : Math.max(1, Math.ceil(workerCpus));
}
