/** The pictures of a disrupt run: answers and losses over time, and each client socket. Pure. */
import { type EngineCase, evidencesOf } from '../../engine/record.ts';
import { caseTitle, pointText } from '../../engine/words.ts';
import { alignedMedians, BUCKET_SECONDS } from '../../measure/client-losses.ts';
import type { LineChart } from '../../report/document/document.ts';
import { formatCount } from '../../report/numbers.ts';
import type { DisruptEvidence, DisruptRecord } from './evidence.ts';
import { CONTROL, FAULT_NAMES, isOfUpstream } from './faults.ts';

export const isFault = ({ subject, aa }: EngineCase) => subject !== CONTROL && !aa;

/** Medians over the trials, without those on a level stretch of the line: it is the same without them. */
export const pointsOf = (evidences: readonly DisruptEvidence[], key: 'answered' | 'lost', title: string) => {
  const medians = alignedMedians(evidences, key);
  const isLevel = (y: number, index: number) =>
    [index - 1, index + 1].every((beside) => medians[beside]?.y === y);
  return medians
    .filter(({ y }, index) => !isLevel(y, index))
    .map(({ x, y }) => ({ ...{ x, y }, tip: `${title}, ${x} s: ${formatCount(y)} per second` }));
};

const PICTURES = [
  {
    name: 'answers',
    title: 'Answers over time',
    key: 'answered',
    yAxis: 'answers without an error per second',
  },
  {
    name: 'losses',
    title: 'Lost queries over time',
    key: 'lost',
    yAxis: 'lost queries per second, when sent',
  },
] as const;

/** A panel for each server; the fault is shaded. */
export function overTime(record: DisruptRecord): LineChart[] {
  const panels = [...Map.groupBy(record.cases, (item) => pointText(record, item))];
  return PICTURES.map(({ name, title, key, yAxis }) => ({
    type: 'lines',
    name,
    title,
    caption:
      'One point for each tenth of a second: the median of the trials. The shaded stretch is the fault, or the longest of several.',
    xAxis: 'seconds since the fault began',
    yAxis,
    panels: panels.map(([point, cases]) => {
      const faults = cases.filter(isFault).flatMap((item) => evidencesOf(record, item.key));
      const lengths = faults.map(({ fault }) => fault.end - fault.begin);
      return {
        title: point,
        lines: cases
          .filter(({ aa }) => !aa)
          .map((item) => ({
            series: item.subject,
            isMarked: false,
            points: pointsOf(evidencesOf(record, item.key), key, caseTitle(record, item)),
          })),
        bands: [{ from: 0, to: Math.max(BUCKET_SECONDS, ...lengths), label: 'fault' }],
      };
    }),
  }));
}

/** An upstream that fails does so for all sockets alike: their lines would say no more than the answers over time. */
const differsBySocket = ({ subject }: EngineCase) =>
  !FAULT_NAMES.some((name) => name === subject && isOfUpstream(name));

/** A line for each socket, in the first trial of each fault: where it was answered, and what it lost. Null for many sockets. */
export function socketPicture(record: DisruptRecord): LineChart | null {
  const panels = record.cases.filter(isFault).flatMap((item) => {
    const [first] = evidencesOf(record, item.key);
    if (first?.sockets?.each === undefined || !differsBySocket(item)) return [];
    const { begin, end } = first.fault;
    const lines = first.sockets.each.flatMap(({ gaps, lostAtSeconds }, index) => {
      const pointAt = (seconds: number, what: string) => {
        const x = Number((seconds - begin).toFixed(3));
        return { x, y: index + 1, tip: `socket ${index + 1}, ${x} s: ${what}` };
      };
      const starts = [0, ...gaps.map(({ toSeconds }) => toSeconds)];
      const ends = [...gaps.map(({ fromSeconds }) => fromSeconds), record.settings.duration];
      const answered = starts.map((from, at) => [from, ends[at] ?? from]);
      return [
        ...answered.map((stretch) => ({
          series: item.subject,
          isMarked: false,
          points: stretch.map((seconds) => pointAt(seconds, 'answered')),
        })),
        {
          series: item.subject,
          isJoined: false,
          points: lostAtSeconds.map((seconds) => pointAt(seconds, 'lost')),
        },
      ];
    });
    const bands = [{ from: 0, to: Math.max(BUCKET_SECONDS, end - begin), label: 'fault' }];
    return [{ title: caseTitle(record, item), lines, bands }];
  });
  if (panels.length === 0) return null;
  return {
    type: 'lines',
    name: 'sockets',
    title: 'Each socket over time',
    caption:
      'One line for each client socket, in the first trial of each fault. It is broken while a query waited at least 0.25 s for the next answer that its name predicts; points are lost queries, when sent.',
    xAxis: 'seconds since the fault began',
    yAxis: 'client socket',
    panels,
  };
}
