/**
 * One view of everything that can be compared: runs of bench and imported measurements, as cases with the figures of
 * their trials. History, comparisons and gates work on it.
 */
import { compareKind } from '../results/compare-kind.ts';
import type { parseHeader } from '../results/parse-record.ts';
import type { LimitedBy, RunRecord } from '../results/record.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import type { ImportedRecord } from './imported.ts';

/** The figures of one trial; null for what was not measured. */
export interface EntryTrial {
  /** Trials of one run and the same round are pairs; null for imported trials, which are not paired. */
  readonly round: number | null;
  readonly startedAt: string | null;
  readonly metrics: Readonly<Record<ComparedMetric, number | null>>;
}

export interface EntryCase {
  readonly key: string;
  readonly server: string | null;
  readonly tier: number | null;
  readonly mode: string | null;
  readonly workload: string | null;
  readonly transport: string | null;
  /** Null for no limit, and where an imported measurement does not say. */
  readonly ratePerSecond: number | null;
  /** True for the baseline of its run. */
  readonly isBaseline: boolean;
  readonly limitedBy: LimitedBy | null;
  readonly contended: boolean | null;
  /** The ok ones. */
  readonly trials: readonly EntryTrial[];
  readonly failedTrials: number;
}

export interface Entry {
  readonly id: string;
  readonly kind: 'run' | 'imported';
  /** Only entries of `compare` have cases; of the others, the history knows what all records say. */
  readonly experiment: string;
  readonly status: string;
  /** When it was measured, as far as that is known; else when it was imported. */
  readonly startedAt: string;
  readonly git: { readonly commit: string; readonly branch: string | null; readonly dirty: boolean } | null;
  /** Everything about machine, programs and settings that may explain a difference, by name. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Identifies the machine or cluster, the load generator and whether it was a duet, which are part of the method:
   * different ones are different lines of a trend.
   */
  readonly machine: string;
  /**
   * Whether all servers of a round were up at once and had the load in slices (`measure/duet.ts`). Such figures are not
   * the same measurement as those of a server that has the machine to itself for a whole trial. Null where an imported
   * measurement does not say, for experiments other than `compare`, and for pooled runs of both kinds.
   */
  readonly isDuet: boolean | null;
  /** Names of the servers. */
  readonly servers: readonly string[];
  readonly cases: readonly EntryCase[];
}

function serversOf(cases: readonly EntryCase[]): string[] {
  return [...new Set(cases.flatMap(({ server }) => server ?? []))];
}

function machineOf({ hostname, cpuModel, cluster }: RunRecord['environment']): string {
  return `${hostname}, ${cpuModel}${cluster === null ? '' : ` cluster ${cluster.version}`}`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'unknown');
}

/** Fields about time and state, not about the machine. */
const NOT_COMPARED = new Set(['loadAverage', 'git', 'cluster', 'socketReceiveBufferBytes']);
/** Settings that do not affect figures. */
const HARMLESS_SETTINGS = new Set([
  'servers',
  'baseline',
  'tier',
  'mode',
  'workload',
  'transport',
  'rate',
  'exclude',
  'trials',
  'until',
  'maxTrials',
  'maxTime',
  'aa',
  'interval',
  'delta',
  'out',
  'provision',
  'corednsVersion',
  // What they came to is told as `trials`.
  'duet',
  'slice',
]);

function isDuet({ trials }: RunRecord): boolean {
  return trials.some((trial) => trial.status === 'ok' && trial.duet !== undefined);
}

/** How the load of a round was divided among its servers. */
function trialsText(record: RunRecord): string {
  if (!isDuet(record)) return 'one server at a time';
  const { slice } = record.configuration;
  return typeof slice === 'number' ? `a duet, slices of ${slice} s` : 'a duet';
}

/** `1 (single), 2 (multi)`: the workers of an instance, by mode; nothing for servers that do not say. */
function workersOf({ cases, trials }: RunRecord, server: string): string[] {
  const modeOf = new Map(cases.map((item) => [item.key, item.server === server ? item.mode : null]));
  const told = trials.flatMap(({ caseKey, instances }) => {
    const mode = modeOf.get(caseKey) ?? null;
    return instances.flatMap(({ workers }) => (mode === null || workers === null ? [] : [{ mode, workers }]));
  });
  const byMode = [...Map.groupBy(told, ({ mode }) => mode)].map(([mode, all]) => {
    const counts = [...new Set(all.map(({ workers }) => workers))].toSorted((a, b) => a - b);
    return `${counts.join(' or ')} (${mode})`;
  });
  return byMode.length === 0 ? [] : [byMode.join(', ')];
}

function environmentOf(record: RunRecord): Record<string, string> {
  const { environment, loader, target, cpuLimits, configuration, servers } = record;
  const { cluster, socketReceiveBufferBytes: buffer } = environment;
  const machine = Object.entries(environment).filter(([name]) => !NOT_COMPARED.has(name));
  const settings = Object.entries(configuration).filter(([name]) => !HARMLESS_SETTINGS.has(name));
  const nodes = cluster?.nodes.map((node) => `${node.os} ${node.kernel} ${node.architecture}`) ?? [];
  return Object.fromEntries(
    [
      ...machine,
      ['socketReceiveBuffer', buffer === null ? 'unknown' : String(buffer.default)],
      ...(cluster === null
        ? []
        : [
            ['cluster.version', cluster.version],
            ['cluster.provider', cluster.provider ?? 'unknown'],
            ['cluster.cni', cluster.cni ?? 'unknown'],
            ['cluster.proxyMode', cluster.proxyMode ?? 'unknown'],
            ['cluster.nodes', [...new Set(nodes)].join('; ')],
          ]),
      ['target', target],
      ['loader', `${loader.kind} ${loader.version}`],
      ['cpuLimits', cpuLimits.method],
      ['trials', trialsText(record)],
      ...servers.flatMap(({ name: server, version, components }) => [
        [`server ${server}`, version],
        ...Object.entries(components).map(([name, text]) => [`server ${server}, ${name}`, text]),
        ...workersOf(record, server).map((text) => [`server ${server}, workers`, text]),
      ]),
      ...settings.map(([name, value]) => [`setting ${name}`, value]),
    ].map(([name, value]) => [String(name), asText(value)]),
  );
}

function fromRun(record: RunRecord): Entry {
  const { environment } = record;
  const trialsOf = Map.groupBy(record.trials, ({ caseKey }) => caseKey);
  const cases = record.cases
    .filter(({ aa }) => !aa)
    .map((item): EntryCase => {
      const trials = trialsOf.get(item.key) ?? [];
      return {
        key: item.key,
        server: item.server,
        tier: item.tier,
        mode: item.mode,
        workload: item.workload,
        transport: item.transport,
        ratePerSecond: item.ratePerSecond,
        isBaseline: item.server === record.baseline,
        limitedBy: item.limitedBy,
        contended: item.contended,
        trials: trials.flatMap((trial) =>
          trial.status === 'ok'
            ? [{ round: trial.round, startedAt: trial.startedAt, metrics: trial.metrics }]
            : [],
        ),
        failedTrials: trials.filter(({ status }) => status === 'failed').length,
      };
    });
  return {
    id: record.id,
    kind: 'run',
    experiment: compareKind.experiment,
    status: record.status,
    startedAt: record.startedAt,
    git: environment.git,
    environment: environmentOf(record),
    machine: `${machineOf(environment)}, load from ${record.loader.kind}${isDuet(record) ? ', in a duet' : ''}`,
    isDuet: isDuet(record),
    servers: serversOf(cases),
    cases,
  };
}

/** The moment that a date or a year begins; null for none. */
function publishedAt(date: string | null | undefined): string | null {
  return date == null ? null : new Date(date).toISOString();
}

function fromImported(record: ImportedRecord): Entry {
  const { environment, source } = record;
  const told = Object.entries(environment).map(([name, value]) => [name, String(value)]);
  const cases = record.cases.map(
    (item): EntryCase => ({
      key: item.key,
      server: item.server,
      tier: item.tier,
      mode: item.mode,
      workload: item.workload,
      transport: item.transport,
      ratePerSecond: item.ratePerSecond ?? null,
      isBaseline: false,
      limitedBy: null,
      contended: null,
      trials: item.trials
        .filter(({ failure }) => failure === null)
        .map(({ startedAt, metrics }) => ({ round: null, startedAt, metrics })),
      failedTrials: item.trials.filter(({ failure }) => failure !== null).length,
    }),
  );
  return {
    id: record.id,
    kind: 'imported',
    experiment: compareKind.experiment,
    status: 'imported',
    startedAt: record.measuredAt ?? publishedAt(record.publication?.date) ?? record.importedAt,
    git: null,
    environment: Object.fromEntries([
      ...(source.format === 'publication'
        ? []
        : [['loader', source.version === null ? source.format : `${source.format} ${source.version}`]]),
      ...told,
    ]),
    // Nothing says that two files were measured on the same machine.
    machine: `unknown (${record.publication?.name ?? source.format})`,
    isDuet: null,
    servers: serversOf(cases),
    cases,
  };
}

/** The view of a run of another experiment: nothing that could be compared, but enough to list and to find it. */
export function entryOfHeader(header: ReturnType<typeof parseHeader>, experiment: string): Entry {
  const { id, status, startedAt, environment, servers } = header;
  return {
    id,
    kind: 'run',
    experiment,
    status,
    startedAt,
    git: environment.git,
    environment: {},
    machine: machineOf(environment),
    isDuet: null,
    servers,
    cases: [],
  };
}

/** The view of a run or of an imported measurement. Pure. */
export function entryOf(record: RunRecord | ImportedRecord): Entry {
  return 'kind' in record ? fromImported(record) : fromRun(record);
}

/** The values of a metric over the trials that have it. */
export function valuesOf(item: EntryCase, metric: ComparedMetric): number[] {
  return item.trials.flatMap(({ metrics }) => metrics[metric] ?? []);
}

/** A server that answers less than this share of the rate is not limited by it. */
const BOUND_FROM = 0.9;

/** Whether no rate was asked for, or one that never bound, as in the published matrix. */
export function isUnbound(item: EntryCase): boolean {
  const { ratePerSecond } = item;
  return ratePerSecond === null || valuesOf(item, 'qps').every((qps) => qps < BOUND_FROM * ratePerSecond);
}
