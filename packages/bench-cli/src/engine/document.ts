/** The report of a run: what every experiment says alike, around what only this one can say. Pure. */
import { numberText } from '../history/axes.ts';
import { titleWithVersion } from '../report/cases.ts';
import {
  type Block,
  code,
  type Finding,
  facts,
  list,
  type Medium,
  only,
  type ReportDocument,
  type Section,
  text,
} from '../report/document/document.ts';
import { couldShow, isBetter, sizeText } from '../report/estimand.ts';
import { clusterFacts, conditionText, originSentence } from '../report/facts.ts';
import { outcomeOf } from '../report/status.ts';
import type { Delta, Difference } from '../results/record.ts';
import { serverTitle } from '../servers/registry.ts';
import { sizeOf } from '../stats/deltas.ts';
import { asSentence, capitalized, counted, countedLines, formatDuration } from '../text.ts';
import type { EngineRecord } from './record.ts';
import { comparisonSections, type FigureTable, figureTables } from './tables.ts';
import { boundSign, caseTitle, programTitle, verdictText } from './words.ts';

type AnyRecord = EngineRecord<unknown, unknown>;

/** What only an experiment can say of its record; the engine adds figures, comparisons, failures, conditions and the command. */
export interface DocumentParts {
  /** Above the title: `Loss by load`. */
  readonly kind: string;
  readonly title: string;
  /** What subjects are, as the title of a column. Default: `Server`. */
  readonly subject?: string;
  /** The result, to be read after "9 trials: "; without it, only how the run ended is said. */
  readonly result?: string | undefined;
  /** Default: a verdict for each comparison. */
  readonly findings?: readonly Finding[];
  /** Default: one table of all estimands, `Figures`. */
  readonly tables?: readonly FigureTable[];
  /** Default: none. */
  readonly warnings?: readonly string[];
  /** Before the figures: the picture that says most. Default: none. */
  readonly opening?: Section;
  /** Between the figures and the method. Default: none. */
  readonly sections?: readonly Section[];
  /** How it was measured, in sentences. */
  readonly method: readonly string[];
  /** Of the charts in its sections. Default: the cases, by their keys. */
  readonly series?: ReportDocument['series'];
  /** For spreadsheets. Default: the figures of each trial. */
  readonly data?: ReportDocument['data'];
  /** Of a post, besides `dns`. Default: none. */
  readonly tags?: readonly string[];
  /** A post that begins otherwise than with the first verdict; the warnings follow its caveats. */
  readonly post?: Partial<
    Pick<ReportDocument['post'], 'title' | 'description' | 'excerpt' | 'origin' | 'caveats'>
  >;
}

/** State and exit status of the run. */
export function statusOf({ status, trials }: AnyRecord): ReturnType<typeof outcomeOf> {
  const failed = trials.filter((trial) => trial.status === 'failed');
  return outcomeOf(status === 'complete', failed, trials.length - failed.length);
}

/**
 * How the run ended, in a sentence without its full stop. A record that still says `running` is that of a run that was killed, or
 * of one that is still under way.
 */
function endOf({ status, trials, cases, until }: AnyRecord): string {
  const planned = cases.reduce((sum, item) => sum + item.trials.planned, 0);
  const failed = trials.filter((trial) => trial.status === 'failed').length;
  const done = `${trials.length} of ${counted(planned, 'trial')}`;
  if (status !== 'complete') return `${status === 'running' ? 'not finished' : 'interrupted'}; ${done}`;
  if (failed > 0) return `${failed} of ${counted(trials.length, 'trial')} failed`;
  const limit =
    until == null || until.reached
      ? ''
      : `, stopped by the limit of ${until.limit === 'time' ? 'time' : 'trials'}`;
  return `${counted(planned, 'trial')}${limit}`;
}

/** The result in a sentence, for lists and at the end of a run. */
export function headlineOf(record: AnyRecord, { result }: Pick<DocumentParts, 'result'>): string {
  return `${endOf(record)}${result === undefined ? '' : `; ${result}`}.`;
}

/** Of a ratio of three trials or more whose interval holds zero; that of two would say nothing. */
const smallestText = (delta: Delta | Difference) =>
  'relative' in delta && delta.undecided === 'interval holds zero' && delta.n > 2 ? couldShow(delta) : '';

function verdicts(record: AnyRecord): Finding[] {
  return record.cases.flatMap((item) => {
    if (item.aa) return [];
    return record.estimands.flatMap((estimand): Finding[] => {
      const delta = item.comparison?.deltas[estimand.name];
      if (delta == null) return [];
      const isOpen = delta.verdict === 'no difference shown';
      const isAllowed = 'allowance' in delta && delta.allowance !== null;
      const how = isAllowed ? ' after allowing for what other programs took' : '';
      return [
        {
          subject: caseTitle(record, item),
          badge: {
            text: (isOpen ? '≈ ' : boundSign(estimand, item)) + sizeText(estimand, delta),
            tone: isOpen ? 'even' : isBetter(estimand, sizeOf(delta)) ? 'good' : 'bad',
          },
          sentence: `${capitalized(estimand.title)}${how}: ${verdictText(record, estimand, item, delta)}${smallestText(delta)}.`,
        },
      ];
    });
  });
}

/**
 * What others took during the trials decides whether a machine was shared (report/neighbours.ts). Where no trial knows it, that is
 * said, whatever the load average was, which also counts the minute before.
 */
function unknownNeighbours({ environment, trials }: AnyRecord): string[] {
  const { cluster, loadAverage, availableCpus } = environment;
  const isKnown = trials.some((trial) => trial.status === 'ok' && trial.taken !== undefined);
  if (cluster !== null || isKnown) return [];
  return [
    `CPU used by other programs was not recorded (load average before the run: ${loadAverage.toFixed(2)} on ${availableCpus} CPUs).`,
  ];
}

function warningsOf(record: AnyRecord): string[] {
  const titleOf = (key: string) => {
    const item = record.cases.find((each) => each.key === key);
    return item === undefined ? key : caseTitle(record, item);
  };
  const failed = record.trials.flatMap((trial) =>
    trial.status === 'failed'
      ? [`${titleOf(trial.case)}, trial ${trial.round + 1} failed: ${trial.failure.message}`]
      : [],
  );
  const bounded = record.cases.flatMap((item) => {
    const [first] = record.estimands.filter((estimand) => boundSign(estimand, item) !== '');
    return first === undefined ? [] : [[boundSign(first, item).trim(), caseTitle(record, item)] as const];
  });
  const bounds = [...Map.groupBy(bounded, ([sign]) => sign)].map(([sign, cases]) => {
    const title = cases.length === 1 ? cases[0]?.[1] : undefined;
    const which = title ?? `${cases.length} of ${record.cases.length} cases`;
    return `${which}: in some trials something other than ${title ?? 'what is measured'} was the limit, so figures marked ${sign} are bounds: it may be better than they say, and is not called worse by them.`;
  });
  // Old records say it themselves, some only where the load average was high.
  const own = record.warnings.filter(
    (warning) => !/other programs (?:during the run )?was not recorded/.test(warning),
  );
  return [...own, ...unknownNeighbours(record), ...failed, ...bounds];
}

function conditionsOf(record: AnyRecord): Block {
  const { environment: host, programs, conditions, cases } = record;
  const varied = new Map<string, Set<string>>();
  for (const { point } of cases)
    for (const [name, value] of Object.entries(point))
      varied.set(
        name,
        (varied.get(name) ?? new Set()).add(
          typeof value === 'number'
            ? numberText(value)
            : conditionText(name, name === 'server' ? serverTitle(value) : value),
        ),
      );
  return facts([
    ['host', `${host.os}, ${host.kernel}, ${host.architecture}`],
    ['CPU', `${host.cpuModel}, ${counted(host.availableCpus, 'core')} of ${host.cpuCores}`],
    ...clusterFacts(record),
    // `build of coredns@1.11.3`
    ...Object.entries(conditions).map(
      ([name, value]) => [name.replace(/\S+$/, serverTitle), conditionText(name, value)] as const,
    ),
    ...[...varied].map(([name, values]) => [name, [...values].join(', ')] as const),
    ...programs.map((program) => [programTitle(program), program.version] as const),
  ]);
}

/** A line for each trial. */
function trialData({ trials, cases, estimands }: AnyRecord): ReportDocument['data'] {
  const points = [...new Set(cases.flatMap(({ point }) => Object.keys(point)))];
  const names = estimands.map(({ name }) => name);
  const caseOf = new Map(cases.map((item) => [item.key, item]));
  const columns = [
    'case',
    'subject',
    ...points,
    'round',
    'status',
    ...names,
    ...names.map((name) => `${name}_bounded`),
  ];
  const rows = trials.map((trial) => {
    const item = caseOf.get(trial.case);
    const isOk = trial.status === 'ok';
    return [
      trial.case,
      item?.subject ?? null,
      ...points.map((name) => item?.point[name] ?? null),
      trial.round,
      trial.status,
      ...names.map((name) => (isOk ? (trial.figures[name] ?? null) : null)),
      ...names.map((name) => (isOk ? trial.bounds.includes(name) : null)),
    ];
  });
  return { columns, rows };
}

/** With its subject, unless it names it. */
function sentenceOf({ subject, sentence }: Finding): string {
  return sentence.includes(subject) ? sentence : `${subject}: ${sentence}`;
}

/** Where subjects are versions, they say more than the programs. */
function contestantsOf({ subjects, programs }: AnyRecord): string[] {
  const areVersions = subjects.every(({ title }) => programs.some(({ version }) => title.includes(version)));
  if (areVersions) return subjects.map(({ title }) => serverTitle(title));
  // A server on a cluster has its image for a version, also in its title.
  return programs.map((program) =>
    titleWithVersion({ ...program, title: programTitle(program) }).replace(/ \([^()]*\/[^()]*\) .*$/, ''),
  );
}

function postOf(
  record: AnyRecord,
  { post = {}, tags = [], ...parts }: DocumentParts,
  findings: readonly Finding[],
  warnings: readonly string[],
): ReportDocument['post'] {
  const [first] = findings;
  const { excerpt = '', ...own } = post;
  return {
    slug: [record.experiment, record.startedAt.slice(0, 16).replace(':', ''), parts.title].join('-'),
    description: excerpt || (first === undefined ? headlineOf(record, parts) : sentenceOf(first)),
    origin: originSentence(record, contestantsOf(record), record.environment.cluster !== null),
    tags: ['dns', ...tags],
    date: record.startedAt.slice(0, 10),
    ...own,
    // That of a run without a result says nothing.
    ...(excerpt === '' ? {} : { excerpt }),
    caveats: [...(own.caveats ?? []), ...warnings],
  };
}

const REPORTS: readonly Medium[] = ['terminal', 'markdown', 'page'];

/** A post leaves out what only the report has room for: evidence that a terminal does not show either. */
function withoutEvidence(section: Section): Section {
  if (section.isBrief !== false) return section;
  return { ...section, blocks: section.blocks.map((block) => ({ on: REPORTS, ...block })) };
}

/** The whole report. */
export function documentOf(record: AnyRecord, parts: DocumentParts): ReportDocument {
  const { startedAt, endedAt, environment, id, generator, command, cases } = record;
  const date = startedAt.slice(0, 10);
  const seconds = endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const { subject = 'Server' } = parts;
  const all = [{ title: 'Figures', estimands: record.estimands.map(({ name }) => name) }];
  const findings = parts.findings ?? verdicts(record);
  const warnings = [...warningsOf(record), ...(parts.warnings ?? [])].map(asSentence);
  return {
    kind: parts.kind,
    title: parts.title,
    state: statusOf(record).state,
    headline: headlineOf(record, parts),
    facts: [
      date,
      environment.hostname,
      counted(record.trials.length, 'trial'),
      ...(seconds === null ? [] : [formatDuration(seconds)]),
      id,
    ],
    findings,
    warnings,
    series: parts.series ?? cases.map((item) => ({ name: item.key, title: caseTitle(record, item) })),
    sections: [
      ...(parts.opening === undefined ? [] : [withoutEvidence(parts.opening)]),
      ...figureTables(record, parts.tables ?? all, subject),
      ...comparisonSections(record, subject),
      ...(parts.sections ?? []).map(withoutEvidence),
      ...(record.closing === undefined
        ? []
        : [{ title: 'At the end', blocks: [list(countedLines(record.closing))] }]),
      { title: 'Method', isBrief: false, blocks: [list(parts.method)] },
      { title: 'Conditions', isBrief: false, blocks: [conditionsOf(record)] },
      {
        title: 'Again',
        isBrief: false,
        blocks: [...only(REPORTS, text('The same run again:')), code(command)],
      },
    ],
    data: parts.data ?? trialData(record),
    post: postOf(record, parts, findings, warnings),
    version: generator.version,
  };
}
