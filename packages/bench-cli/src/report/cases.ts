/** How reports name, group and mark cases. */
import type { CaseRecord, RunRecord, ServerRecord } from '../results/record.ts';
import { describeLimit } from './limits.ts';
import {
  AS_FOUND,
  AS_FOUND_EXPLANATION,
  CONTENDED,
  ECHO_EXPLANATION,
  isAsFound,
  isEcho,
  marksOfCase,
  NOT_SERVER_LIMITED,
} from './marks.ts';
import { formatCount, formatCpus, formatFixed } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';

/** The server's name in tables, "CoreDNS"; its kind if it never started. */
export function serverTitle(record: RunRecord, server: string): string {
  return record.servers.find(({ name }) => name === server)?.title ?? server;
}

/** `CoreDNS 1.15.0`: a title with the version, which the name of the server may have put there already. */
export function titleWithVersion({ title, version }: Pick<ServerRecord, 'title' | 'version'>): string {
  return title.split(' ').includes(version) ? title : `${title} ${version}`;
}

/** How the tier is shared out: `2 × 1 vCPU`; of a server that bench did not start, that it was not. */
export function shapeOf(record: RunRecord, { server, tier, instances }: CaseRecord): string {
  return isAsFound(record, server) ? AS_FOUND : `${instances} × ${formatCpus(tier / instances)} vCPU`;
}

/** The CPU that a case used, of what it was given: `0.50 of 0.5`. */
export function usedOf(record: RunRecord, { server, tier }: CaseRecord, cores: number): string {
  const used = formatFixed(cores, 2);
  return isAsFound(record, server) ? used : `${used} of ${formatCpus(tier)}`;
}

/** Marks behind a throughput figure; empty for a clean one. */
export function marksOf({ limitedBy, contended, summary }: CaseRecord): string {
  if (summary === null) return '';
  return `${limitedBy === 'server' ? '' : NOT_SERVER_LIMITED}${contended ? CONTENDED : ''}`;
}

/** Explanations of these cases' marks. */
export function explainMarks(record: RunRecord, cases: readonly CaseRecord[]): string[] {
  const marked = cases.filter((item) => item.summary !== null);
  const reasons = (items: readonly CaseRecord[]) =>
    [...Map.groupBy(items, (item) => describeLimit(item, okTrialsOf(record, item)))].map(
      ([reason, members]) => {
        const names = [...new Set(members.map(({ server }) => serverTitle(record, server)))];
        return `${names.join(', ')}: ${reason}`;
      },
    );
  const unlimited = marked.filter(({ limitedBy }) => limitedBy !== 'server');
  const lines: string[] = [];
  const echo = marked.find(({ server }) => isEcho(record, server));
  if (echo !== undefined) lines.push(`${serverTitle(record, echo.server)}: ${ECHO_EXPLANATION}`);
  const found = marked.filter(({ server }) => isAsFound(record, server));
  if (found.length > 0) {
    const names = [...new Set(found.map(({ server }) => serverTitle(record, server)))];
    lines.push(`${names.join(', ')}: ${AS_FOUND_EXPLANATION}`);
  }
  if (unlimited.length > 0) {
    lines.push(
      `${NOT_SERVER_LIMITED} Not limited by the server in every trial, so the server may be able to do more. ${reasons(unlimited).join('; ')}.`,
    );
  }
  if (marked.some(({ contended }) => contended)) {
    lines.push(
      `${CONTENDED} Contended: this machine has fewer cores than servers and load generators need, so they slowed ` +
        'each other down.',
    );
  }
  return lines;
}

/** Every mark of every case as a sentence that names its cases, for notes. */
export function explainCaseMarks(record: RunRecord): string[] {
  const marked = record.cases
    .filter(({ aa }) => !aa)
    .flatMap((item) =>
      marksOfCase(record, item, okTrialsOf(record, item)).map((mark) => ({
        mark,
        where: `${serverTitle(record, item.server)}, tier ${formatCpus(item.tier)} ${item.mode}`,
      })),
    );
  return [...Map.groupBy(marked, ({ mark }) => mark.explanation)].map(([explanation, members]) => {
    const symbol = members[0]?.mark.symbol;
    return `${symbol === undefined ? '' : `${symbol} `}${members.map(({ where }) => where).join('; ')}: ${explanation}`;
  });
}

/** `at 2,000 QPS`, or `unlimited`. */
function rateText(ratePerSecond: number | null): string {
  return ratePerSecond === null ? 'unlimited' : `at ${formatCount(ratePerSecond)} QPS`;
}

const FURTHER_AXES = ['workload', 'transport', 'ratePerSecond'] as const;
type FurtherAxis = (typeof FURTHER_AXES)[number];

/** Asked for every case and every trial, so kept as long as the record. */
const varyingAxes = new WeakMap<RunRecord, readonly FurtherAxis[]>();

/** Of workload, transport and rate, what the run has several of. */
export function varyingOf(record: RunRecord): readonly FurtherAxis[] {
  const isVarying = (axis: FurtherAxis) => new Set(record.cases.map((item) => item[axis])).size > 1;
  const axes = varyingAxes.get(record) ?? FURTHER_AXES.filter(isVarying);
  varyingAxes.set(record, axes);
  return axes;
}

/** Where a case is beside server, tier and mode: workload, transport and rate, each only if the run has several. */
export function furtherPoint(
  record: RunRecord,
  { workload, transport, ratePerSecond }: CaseRecord,
): string[] {
  const words = { workload: `workload ${workload}`, transport, ratePerSecond: rateText(ratePerSecond) };
  return varyingOf(record).map((axis) => words[axis]);
}

/** "tier 1 single", and what else varies in the run. */
export function pointOf(record: RunRecord, item: CaseRecord): string {
  return [`tier ${formatCpus(item.tier)} ${item.mode}`, ...furtherPoint(record, item)].join(', ');
}

export interface CaseGroup {
  /** "Tier 2, single", with workload, transport and rate where the run has several. */
  readonly title: string;
  readonly cases: readonly CaseRecord[];
}

/** Cases that are compared with each other, in the order of the plan; without the twins of `--aa`. */
export function groupCases(record: RunRecord): CaseGroup[] {
  const cases = record.cases.filter(({ aa }) => !aa);
  const titleOf = (item: CaseRecord) =>
    [`Tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)].join(', ');
  return [...Map.groupBy(cases, titleOf)].map(([title, members]) => ({ title, cases: members }));
}

/** The title of a group in the middle of a sentence. */
export function inSentence(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

/** The same with both modes in one group, as the published tables have them: "2 CPU", and what else varies. */
export function groupAcrossModes(
  record: RunRecord,
): (CaseGroup & { readonly baseline: CaseRecord | undefined })[] {
  const cases = record.cases.filter(({ aa }) => !aa);
  const titleOf = (item: CaseRecord) =>
    [`${formatCpus(item.tier)} CPU`, ...furtherPoint(record, item)].join(', ');
  return [...Map.groupBy(cases, titleOf)].map(([title, members]) => {
    const baselines = members.filter(({ server }) => server === record.baseline);
    const baseline = baselines.find(({ mode }) => mode === 'multi') ?? baselines[0];
    return { title, cases: members, baseline };
  });
}
