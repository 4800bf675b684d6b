/**
 * One view of everything that can be compared: runs of any experiment and imported measurements, as cases with the figures of
 * their trials by estimand. Comparisons, gates and reproductions work on it.
 */
import { type EstimandFacts, type Figures, valuesOf } from '../report/estimand.ts';
import { compareKind } from '../results/compare-kind.ts';
import type { parseHeader } from '../results/parse-record.ts';
import type { Environment, RunRecord } from '../results/record.ts';
import { takenDuring } from '../stats/comparisons.ts';
import { isServersOwn } from '../stats/decisive.ts';
import { COMPARED_METRICS, type ComparedMetric, METRIC_NAMES, METRIC_TITLES } from '../stats/metrics.ts';
import { LEVEL } from '../stats/sample-test.ts';
import { levelOfRecord } from '../stats/until.ts';
import type { ImportedRecord } from './imported.ts';

export interface EntryCase {
  readonly key: string;
  /** What is compared: a server, a policy, a fault. Null where an imported measurement does not say. */
  readonly subject: string | null;
  /** The subject in words, where its experiment has some for it. */
  readonly title?: string | undefined;
  /** What is varied besides, by name; without what an imported measurement does not say. */
  readonly point: Readonly<Record<string, string | number>>;
  /** True for the baseline of its run. */
  readonly isBaseline: boolean;
  /** Names of figures that something other than the subject kept from being better, in at least one trial. */
  readonly bounds: readonly string[];
  /**
   * Names of figures that may be on either side of their own, of which nothing is said: they mirror a bounded one, as the latency of
   * a closed loop that the load generator did not keep full does; or, where nothing is bounded, they are too coarse.
   */
  readonly foreign: readonly string[];
  /** True if servers and load generators had to share cores. */
  readonly contended: boolean;
  /** The ok ones. */
  readonly trials: readonly Figures[];
  readonly failedTrials: number;
}

export interface Entry {
  readonly id: string;
  readonly kind: 'run' | 'imported';
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
  /** Two-sided level at which its figures are tested: less than 5 % if the run was looked at until it had a verdict. */
  readonly level: number;
  /** Names of the servers. */
  readonly servers: readonly string[];
  /** What its experiment says of it in a line; null where its servers say enough. */
  readonly summary: string | null;
  /** The figures of its trials, those that decide first. */
  readonly estimands: readonly EstimandFacts[];
  /** Empty for an experiment that nothing compares. */
  readonly cases: readonly EntryCase[];
}

const COMPARED_UNITS: Readonly<Record<ComparedMetric, EstimandFacts['unit']>> = {
  qps: 'queries/s',
  latencySeconds: 'seconds',
  cpuSecondsPerQuery: 'CPU seconds',
  memoryBytes: 'bytes',
};

/** The figures of a comparison of servers, under the names that flags have. */
export const COMPARED_ESTIMANDS: readonly EstimandFacts[] = COMPARED_METRICS.map(comparedEstimand);

export function comparedEstimand(metric: ComparedMetric): EstimandFacts {
  return {
    name: METRIC_NAMES[metric],
    title: METRIC_TITLES[metric],
    unit: COMPARED_UNITS[metric],
    better: metric === 'qps' ? 'more' : 'less',
    compared: 'ratio',
  };
}

/** Figures of `COMPARED_ESTIMANDS`. */
export function comparedFigures(metrics: Readonly<Record<ComparedMetric, number | null>>) {
  return Object.fromEntries(COMPARED_METRICS.map((metric) => [METRIC_NAMES[metric], metrics[metric]]));
}

/** The subject of a case that is a server, as far as it is known. */
export function serverOf({ subject, point }: Pick<EntryCase, 'subject' | 'point'>): string | null {
  return point.server === undefined ? subject : String(point.server);
}

/** The point of a case of a comparison of servers, without what nobody says. */
function comparedPoint(
  item: RunRecord['cases'][number] | ImportedRecord['cases'][number],
): EntryCase['point'] {
  const { tier, mode, workload, ratePerSecond, transport } = item;
  const values = { tier, mode, workload, rate: ratePerSecond ?? UNLIMITED, transport };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

function serversOf(cases: readonly EntryCase[]): string[] {
  return [...new Set(cases.flatMap(({ subject }) => subject ?? []))];
}

export function machineOf({ hostname, cpuModel, cluster }: Environment): string {
  return `${hostname}, ${cpuModel}${cluster === null ? '' : `, Kubernetes ${cluster.version}`}`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'unknown');
}

/** The rate of a case that has no limit. */
export const UNLIMITED = 'max';

/** Fields about time and state, not about the machine. */
const NOT_COMPARED = new Set(['loadAverage', 'git', 'cluster', 'socketReceiveBufferBytes']);
/** Settings that affect no figure in any experiment, or that the subject tells. */
const HARMLESS_SETTINGS = new Set([
  'servers',
  'baseline',
  'to',
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
  'placements',
  'namespacePrefix',
  'pullPolicy',
  'pullSecrets',
  'scheduleTime',
  'readyTime',
  'keep',
  'leaseNamespace',
  'yesChangeClusterDns',
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

/** Of the version of bench in `Entry.environment`. */
export const BENCH = 'dinodns-bench';

/** Of the names of settings in `Entry.environment`. */
export const SETTING_PREFIX = 'setting ';

/** Whether the points of the cases tell the setting: `objects`, or `configurations` as `configuration`. */
function isAxis(name: string, cases: Entry['cases']): boolean {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/s$/, '');
  return cases.some(({ point }) => Object.keys(point).some((axis) => axis.startsWith(words)));
}

/**
 * Settings that hold for all cases, by their own names. Axes are left out: a rate is an axis of one experiment and a condition of
 * another.
 */
export function conditionSettings({ environment, cases }: Pick<Entry, 'environment' | 'cases'>) {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => {
      const name = key.slice(SETTING_PREFIX.length);
      return key.startsWith(SETTING_PREFIX) && !isAxis(name, cases) ? [[name, value]] : [];
    }),
  );
}

type Named = readonly (readonly [name: string, value: unknown])[];

/** The machine or the cluster, program versions and settings, as texts by name. */
export function environmentOf(
  { environment, generator }: Pick<RunRecord, 'environment' | 'generator'>,
  settings: Readonly<Record<string, unknown>>,
  more: Named,
): Entry['environment'] {
  const { cluster, socketReceiveBufferBytes: buffer } = environment;
  const nodes = cluster?.nodes.map((node) => `${node.os} ${node.kernel} ${node.architecture}`) ?? [];
  const ofCluster: Named =
    cluster === null
      ? []
      : [
          ['cluster.version', cluster.version],
          ['cluster.provider', cluster.provider ?? 'unknown'],
          ['cluster.cni', cluster.cni ?? 'unknown'],
          ['cluster.proxyMode', cluster.proxyMode ?? 'unknown'],
          ['cluster.nodes', [...new Set(nodes)].join('; ')],
        ];
  const all: Named = [
    [BENCH, generator.version],
    ...Object.entries(environment).filter(([name]) => !NOT_COMPARED.has(name)),
    ['socketReceiveBuffer', buffer === null ? 'unknown' : String(buffer.default)],
    ...ofCluster,
    ...more,
    ...Object.entries(settings).flatMap(
      ([name, value]): Named => (HARMLESS_SETTINGS.has(name) ? [] : [[`${SETTING_PREFIX}${name}`, value]]),
    ),
  ];
  return Object.fromEntries(all.map(([name, value]) => [name, asText(value)]));
}

function conditionsOf(record: RunRecord): Named {
  const { loader, target, cpuLimits, servers } = record;
  return [
    ['target', target],
    ['loader', `${loader.kind} ${loader.version}`],
    ['cpuLimits', cpuLimits.method],
    ['trials', trialsText(record)],
    ...servers.flatMap(
      ({ name: server, version, components }): Named => [
        [`server ${server}`, version],
        ...Object.entries(components).map(([name, text]): Named[number] => [
          `server ${server}, ${name}`,
          text,
        ]),
        ...workersOf(record, server).map((text): Named[number] => [`server ${server}, workers`, text]),
      ],
    ),
  ];
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
        subject: item.server,
        title: record.servers.find(({ name }) => name === item.server)?.title,
        point: comparedPoint(item),
        isBaseline: item.server === record.baseline,
        bounds: isServersOwn('qps', [item.limitedBy]) ? [] : [METRIC_NAMES.qps],
        foreign: isServersOwn('latencySeconds', [item.limitedBy]) ? [] : [METRIC_NAMES.latencySeconds],
        contended: item.contended,
        trials: trials.flatMap((trial): Figures[] => {
          if (trial.status !== 'ok') return [];
          const { round, metrics } = trial;
          return [{ round, taken: takenDuring(trial), figures: comparedFigures(metrics) }];
        }),
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
    environment: environmentOf(record, record.configuration, conditionsOf(record)),
    machine: `${machineOf(environment)}, load from ${record.loader.kind}${isDuet(record) ? ', in a duet' : ''}`,
    isDuet: isDuet(record),
    level: levelOfRecord(record.until, record.configuration),
    servers: serversOf(cases),
    summary: null,
    estimands: COMPARED_ESTIMANDS,
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
      subject: item.server,
      point: comparedPoint(item),
      isBaseline: false,
      bounds: [],
      // In whole milliseconds, which equal trials round alike: their scatter does not show it.
      foreign: source.format === 'dnspyre' ? [METRIC_NAMES.latencySeconds] : [],
      contended: false,
      trials: item.trials
        .filter(({ failure }) => failure === null)
        .map(({ metrics }) => ({ round: null, figures: comparedFigures(metrics) })),
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
    level: LEVEL,
    servers: serversOf(cases),
    summary: null,
    estimands: COMPARED_ESTIMANDS,
    cases,
  };
}

/** A run of which nothing can be compared: enough to list and to find it. */
export function entryOfHeader(
  header: Omit<ReturnType<typeof parseHeader>, 'servers'> & { readonly servers?: readonly string[] },
  experiment: string,
  summary: string | null,
): Entry {
  const { id, status, startedAt, environment, servers = [] } = header;
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
    level: LEVEL,
    servers,
    summary,
    estimands: [],
    cases: [],
  };
}

/** The view of a run or of an imported measurement. Pure. */
export function entryOf(record: RunRecord | ImportedRecord): Entry {
  return 'kind' in record ? fromImported(record) : fromRun(record);
}

/** A server that answers less than this share of the rate is not limited by it. */
const BOUND_FROM = 0.9;

/** Whether no rate was asked for, or one that never bound, as in the published matrix. */
export function isUnbound(item: EntryCase): boolean {
  const { rate } = item.point;
  return typeof rate !== 'number' || valuesOf(item.trials, 'qps').every((qps) => qps < BOUND_FROM * rate);
}
