/** What faults cost, in sentences: of each, or of those of one kind that cost as much. Pure. */
import type { EngineCase } from '../../engine/record.ts';
import { sharedText, valueText } from '../../engine/words.ts';
import { formatCount, formatTime } from '../../report/numbers.ts';
import { listed } from '../../text.ts';
import type { DisruptRecord } from './evidence.ts';
import { FAULTS, type FaultName, faultsOf } from './faults.ts';

export const medianOf = ({ summary }: EngineCase, name: string) => summary[name]?.median ?? 0;

/** Queries without a good answer. */
const missed = (item: EngineCase) => medianOf(item, 'lost') + medianOf(item, 'errors');

/** Counts as close as this are told as one. */
const ALIKE = 0.02;

const isAlike = (a: number, b: number) => Math.abs(a - b) <= ALIKE * Math.max(a, b);

/** In the worst of them. */
const most = (cases: readonly EngineCase[], name: string) =>
  Math.max(...cases.map((item) => medianOf(item, name)));
const mostMissed = (cases: readonly EngineCase[]) => Math.max(...cases.map(missed));

/** The worst first; those that cost as much are one. */
function grouped(parts: readonly (readonly EngineCase[])[]): EngineCase[][] {
  const groups: EngineCase[][] = [];
  for (const part of parts.toSorted((a, b) => mostMissed(b) - mostMissed(a))) {
    const last = groups.at(-1);
    if (last !== undefined && isAlike(mostMissed(last), mostMissed(part))) last.push(...part);
    else groups.push([...part]);
  }
  return groups;
}

/** In words, in the order of the run. */
export const serversOf = (cases: readonly EngineCase[]) => [
  ...new Set(cases.map(({ point }) => valueText('server', point.server ?? ''))),
];

const serversAmong = (all: readonly EngineCase[], some: readonly EngineCase[] = []) =>
  listed(serversOf(all.filter((item) => some.includes(item))));

/** ` with Unbound`, or what only these cases have in common. */
function whereText(record: DisruptRecord, some: readonly EngineCase[], all: readonly EngineCase[]): string {
  if (serversOf(all).length === 1) return sharedText(record, some, all);
  if (some.length === all.length) return ' with every server';
  return ` with ${serversAmong(all, some)}`;
}

/** What faults cost that cost as much: those of one kind share a sentence. */
interface Outcome {
  readonly names: readonly FaultName[];
  readonly cases: readonly EngineCase[];
  readonly isOfServers: boolean;
  /** Of servers, or of combinations of factors: those that it cost as much, the worst first. */
  readonly groups: readonly (readonly EngineCase[])[];
}

function outcomeOf(names: readonly FaultName[], cases: readonly EngineCase[]): Outcome {
  const byServer = [...Map.groupBy(cases, ({ point }) => point.server).values()];
  const isOfServers = byServer.length > 1;
  return { names, cases, isOfServers, groups: grouped(isOfServers ? byServer : cases.map((item) => [item])) };
}

/** `the upstream was slow or silent`; null for phrases that do not begin alike. */
function sharedBeginning(phrases: readonly string[]): string | null {
  const [first = [], ...others] = phrases.map((phrase) => phrase.split(' '));
  const differs = first.findIndex((word, at) => others.some((words) => words[at] !== word));
  if (differs < 2) return null;
  const ends = [first, ...others].map((words) => words.slice(differs).join(' '));
  return `${first.slice(0, differs).join(' ')} ${listed(ends, 'or')}`;
}

export function causeOf(names: readonly FaultName[]): string | null {
  const causes = names.map((name) => FAULTS[name].cause);
  return causes.length === 1 ? causes.join() : sharedBeginning(causes);
}

function whenOf(names: readonly FaultName[]): string {
  const phrases = names.flatMap((name) => FAULTS[name].when ?? []);
  return sharedBeginning(phrases) ?? listed(phrases, 'or');
}

const isOneOutcome = (a: Outcome, b: Outcome) =>
  a.groups.length === 1 &&
  b.groups.length === 1 &&
  isAlike(mostMissed(a.cases), mostMissed(b.cases)) &&
  causeOf([...a.names, ...b.names]) !== null;

/** Of each fault with a trial that succeeded. */
function outcomesOf(record: DisruptRecord, faults: readonly EngineCase[]): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const name of faultsOf(record.settings)) {
    const cases = faults.filter(({ subject, summary }) => subject === name && summary.answered != null);
    if (cases.length === 0) continue;
    const own = outcomeOf([name], cases);
    const last = outcomes.at(-1);
    if (last !== undefined && isOneOutcome(last, own))
      outcomes.splice(-1, 1, outcomeOf([...last.names, name], [...last.cases, ...cases]));
    else outcomes.push(own);
  }
  return outcomes;
}

/** With which servers clients lost most, and when that made no difference; only of several servers and faults. */
function leadOf(outcomes: readonly Outcome[]): string[] {
  const namesOf = (some: readonly Outcome[]) => some.flatMap(({ names }) => names);
  const worst = ({ cases, groups: [first] }: Outcome) => serversAmong(cases, first);
  const differing = outcomes.filter(({ isOfServers, groups }) => isOfServers && groups.length > 1);
  if (differing.length === 0 || namesOf(outcomes).length === 1) return [];
  const parts = [...Map.groupBy(differing, worst)].map(
    ([servers, some]) => `with ${servers} when ${whenOf(namesOf(some))}`,
  );
  const even = namesOf(outcomes.filter((outcome) => !differing.includes(outcome)));
  const rest = even.length === 0 ? '' : `; they lost as many with every server when ${whenOf(even)}`;
  return [`Clients lost most ${listed(parts)}${rest}.`];
}

/** `none`, `at most 24`, `90 to 114` */
function rangeText(least: number, most: number): string {
  if (most === 0) return 'none';
  if (least === most) return formatCount(most);
  return least === 0 ? `at most ${formatCount(most)}` : `${formatCount(least)} to ${formatCount(most)}`;
}

/** The values of the factor that decides what a fault costs, whatever the others are, the worst first; none where none does. */
function decidingValues({ settings }: DisruptRecord, cases: readonly EngineCase[]) {
  const varied = Object.keys(settings.factors).filter(
    (name) => new Set(cases.map(({ point }) => point[name])).size > 1,
  );
  // Of a single one, the worst and the best case say as much.
  if (varied.length < 2) return [];
  const ranges = varied.map((name) =>
    [...Map.groupBy(cases, ({ point }) => point[name])]
      .map(([value = '', own]) => {
        const counts = own.map(missed);
        return { text: valueText(name, value), least: Math.min(...counts), most: Math.max(...counts) };
      })
      .toSorted((one, other) => other.most - one.most),
  );
  const isApart = (values: (typeof ranges)[number]) =>
    values.every(({ least }, at) => least > (values[at + 1]?.most ?? -1));
  return ranges.find(isApart) ?? [];
}

const gapText = (cases: readonly EngineCase[]) =>
  mostMissed(cases) === 0 ? '' : ` (longest gap ${formatTime(most(cases, 'gap'))})`;

/** What it cost, by the factor that decides; and a sentence about its worst and its best case. */
function byFactor(record: DisruptRecord, { cases, groups }: Outcome, of: string): readonly string[] | null {
  const values = decidingValues(record, cases);
  const [worst, best] = [groups[0], groups.at(-1)];
  if (values.length === 0 || worst === undefined || best === undefined) return null;
  const parts = values.map(
    ({ text, least, most }, at) => `${rangeText(least, most)}${at === 0 ? of : ''} with ${text}`,
  );
  const [there, here] = [worst, best].map((group) => whereText(record, group, cases));
  const ends = there === '' || here === '' ? [] : [`Most were lost${there}${gapText(worst)}, fewest${here}.`];
  return [listed(parts), ...ends];
}

/** What it cost each server or, of one, where that was worst and best. */
function byGroup(record: DisruptRecord, { names, cases, isOfServers, groups }: Outcome, of: string): string {
  const told = isOfServers ? groups : groups.filter((_, at) => at === 0 || at === groups.length - 1);
  const isWorst = isOfServers && cases.length > names.length * serversOf(cases).length;
  const parts = told.map((group, index) => {
    const missing = mostMissed(group);
    const count = missing === 0 ? 'none' : `${isWorst ? 'up to ' : ''}${formatCount(missing)}`;
    const where = whereText(record, group, cases);
    if (index > 0) return `${index === told.length - 1 ? 'and ' : ''}${count}${where || ' at best'}`;
    return `${count}${of}${missing === 0 ? '' : where}${gapText(group)}`;
  });
  return parts.join(', ');
}

/** A sentence for each fault, or for those of one kind that cost as much; before several, what they come to. */
export function verdictsOf(record: DisruptRecord, faults: readonly EngineCase[]): string[] {
  const { rate, duration, factors } = record.settings;
  // What is the same in all cases is part of the question.
  const fixed = Object.entries(factors).flatMap(([name, [value, ...others]]) =>
    value === undefined || others.length > 0 ? [] : [valueText(name, value)],
  );
  const outcomes = outcomesOf(record, faults);
  const of = ` of ${formatCount(rate * duration)} queries`;
  const sentences = outcomes.flatMap((outcome) => {
    const late = most(outcome.cases, 'over1s');
    const subject = `${causeOf(outcome.names)}${fixed.length === 0 ? '' : ` with ${listed(fixed)}`}`;
    const [costs, ...rest] = byFactor(record, outcome, of) ?? [byGroup(record, outcome, of)];
    const lateText = late === 0 ? '' : `; up to ${formatCount(late)} answers took longer than 1\u00a0s`;
    return [`${subject} cost ${costs}${lateText}.`, ...rest];
  });
  return [...leadOf(outcomes), ...sentences];
}
