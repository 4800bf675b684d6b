/** What a publication says of its conditions, beside what a run says of its own. Pure. */
import { flagLabel } from '../../config/configuration.ts';
import { PUBLISHED_CPU } from '../../config/kubernetes-settings.ts';
import { parseServerName } from '../../config/server-name.ts';
import type { Entry } from '../entry.ts';

export interface Condition {
  /** For people: `coredns version`, `--clients`. */
  readonly name: string;
  readonly published: string;
  /** Null where the run does not say. */
  readonly run: string | null;
  readonly isSame: boolean;
}

/** The same beside several runs or cases. */
export interface ReproducedCondition extends Pick<Condition, 'name' | 'published'> {
  readonly ours: readonly (string | null)[];
  /** Null where one does not say, or there is none. */
  readonly isSame: boolean | null;
}

/** Names of an entry's environment that need other words; the rest is named as it is. */
const WORDS: Readonly<Record<string, string>> = {
  'cluster.provider': 'cluster provider',
  'cluster.cni': 'network plugin',
  'server coredns-cluster': 'CoreDNS version',
  'setting tier': 'CPUs of the server',
  'setting upstreamDelay': 'delay of the upstream, ms',
  cpuModel: 'machine',
  cpuCores: 'cores of a machine',
  cpuLimits: 'CPU limits',
};

const SETTING = 'setting ';
const SERVER = 'server ';
const TIER = `${SETTING}tier`;
const RATE = `${SETTING}rate`;
const LOADER_CPU = `${SETTING}loaderCpu`;
const TRIALS = 'trials of each case';

function wordsFor(name: string): string {
  if (WORDS[name] !== undefined) return WORDS[name];
  if (name.startsWith(SETTING)) return flagLabel(name.slice(SETTING.length));
  if (!name.startsWith(SERVER)) return name;
  const [server = '', component] = name.slice(SERVER.length).split(', ');
  return `${server} ${component ?? 'version'}`;
}

/** What the run says of the servers that stand for a published one; with their names if they differ. */
function ofServers(name: string, entry: Entry, used: readonly string[]): string | null {
  const exact = entry.environment[name];
  if (exact !== undefined) return exact;
  const [published = '', ...component] = name.slice(SERVER.length).split(', ');
  const kind = parseServerName(published)?.kind;
  const told = used.flatMap((server) => {
    if (parseServerName(server)?.kind !== kind) return [];
    const value = entry.environment[[`${SERVER}${server}`, ...component].join(', ')];
    return value === undefined ? [] : [{ server, value }];
  });
  if (new Set(told.map(({ value }) => value)).size < 2) return told[0]?.value ?? null;
  return told
    .map(({ server, value }) => (server.endsWith(`@${value}`) ? value : `${value} (${server})`))
    .join(', ');
}

/** `10`, or `8 to 10` if cases have different numbers. */
function trialsOf(entry: Entry, usedCases: ReadonlySet<string>): string | null {
  const counts = entry.cases.flatMap(({ key, trials }) => (usedCases.has(key) ? [trials.length] : []));
  if (counts.length === 0) return null;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(most) : `${least} to ${most}`;
}

/** `2000`, or `1000, 2000`: the rates of the cases that were compared. */
function ratesOf(entry: Entry, usedCases: ReadonlySet<string>): string | null {
  const rates = entry.cases.flatMap(({ key, point: { rate } }) =>
    usedCases.has(key) && typeof rate === 'number' ? [rate] : [],
  );
  return rates.length === 0 ? null : [...new Set(rates)].join(', ');
}

/** Every condition that the publication states; `usedCases` are the keys of the run's cases that were compared. */
export function conditionsOf(published: Entry, entry: Entry, usedCases: ReadonlySet<string>): Condition[] {
  const used = entry.cases.flatMap(({ key, subject }) => (usedCases.has(key) ? (subject ?? []) : []));
  const servers = [...new Set(used)];
  const oursFor = (name: string) => {
    if (name === TRIALS) return trialsOf(entry, usedCases);
    if (name === RATE) return ratesOf(entry, usedCases);
    // A tier is a limit only where there are limits.
    if (name === TIER && entry.environment['CPU limits'] === 'none') return 'no limit';
    // On this machine it has no effect.
    if (name === LOADER_CPU && entry.environment.target !== 'kubernetes') return null;
    if (name.startsWith(SERVER)) return ofServers(name, entry, servers);
    const told = entry.environment[name] ?? entry.environment[`${SETTING}${name}`];
    return told?.replace(/^\[(.*)\]$/, '$1') ?? null;
  };
  return Object.entries(published.environment).map(([name, value]) => {
    const ours = oursFor(name);
    return {
      name: wordsFor(name),
      published: value,
      run: ours,
      isSame: ours === value || ours === PUBLISHED_CPU,
    };
  });
}
