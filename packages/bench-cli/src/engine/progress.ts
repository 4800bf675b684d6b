/** The progress of a run as a person reads it: which trial of how many, what it does, and the time left. */
import type { Display } from '../progress/display.ts';
import { formatDuration } from '../text.ts';
import type { Clock } from '../world.ts';
import type { PlannedTrial, TrialEvents } from './experiment.ts';
import { expectedSeconds, type MeasuredCase } from './plan.ts';
import { pointText } from './words.ts';

export interface ProgressOptions {
  readonly display: Display;
  readonly clock: Clock;
  readonly cases: readonly MeasuredCase[];
  /** Of the subjects, by name. */
  readonly titles: ReadonlyMap<string, string>;
  /** Trials that are still to be taken. */
  readonly missing: readonly PlannedTrial[];
  /** Of all trials, with those that the record has. */
  readonly total: number;
  readonly lanes: number;
}

export interface Progress {
  /** What a trial tells. `lane` is anything that tells those under way at once apart: the line shows one trial of each. */
  eventsOf(lane: object, planned: PlannedTrial): Pick<TrialEvents, 'phase' | 'part' | 'rate'>;
  /** The trials of a lane have ended. */
  ended(lane: object, results: readonly { readonly planned: PlannedTrial; readonly line: string }[]): void;
}

export function createProgress(options: ProgressOptions): Progress {
  const { display, clock, missing, lanes } = options;
  const texts = new Map<object, string>();
  const expected = expectedSeconds(missing);
  /** When the trials of a lane began, and how long they are expected to take. */
  const underWay = new Map<object, { readonly at: number; expected: number }>();
  let [ended, done, spent] = [0, 0, 0];
  /** As expected, corrected by what the trials of this run have taken so far. */
  const left = () => {
    const pace = done === 0 ? 1 : spent / done;
    const now = clock.monotonicSeconds();
    let seconds = (expected - done) * pace;
    for (const lane of underWay.values()) seconds -= Math.min(lane.expected * pace, now - lane.at);
    seconds /= Math.min(lanes, missing.length - ended);
    return seconds > 0 ? `; about ${formatDuration(seconds)} left` : '';
  };
  const show = (lane: object, text: string) => {
    texts.set(lane, text);
    display.live(`  ${[...texts.values()].join(' | ')}${left()}`);
  };
  return {
    eventsOf(lane, planned) {
      const head = headOf(options, planned);
      const began = underWay.get(lane) ?? { at: clock.monotonicSeconds(), expected: 0 };
      began.expected += expectedSeconds([planned]);
      underWay.set(lane, began);
      let phase = '';
      return {
        phase(text) {
          phase = text;
          show(lane, `${head}: ${text}`);
        },
        part: (text) => display.line(`${head}: ${text}${left()}`),
        rate: (qps) => show(lane, `${head}: ${phase}, ${Math.round(qps).toLocaleString('en')} queries/s`),
      };
    },
    ended(lane, results) {
      texts.delete(lane);
      ended += results.length;
      done += expectedSeconds(results.map(({ planned }) => planned));
      spent += clock.monotonicSeconds() - (underWay.get(lane)?.at ?? clock.monotonicSeconds());
      underWay.delete(lane);
      for (const { planned, line } of results) {
        const [first, ...more] = line.split('\n');
        display.line([`${headOf(options, planned)}: ${first}${left()}`, ...more].join('\n'));
      }
    },
  };
}

/** `3/9  DinoDNS, tier 2, trial 1` */
function headOf({ cases, titles, total }: ProgressOptions, planned: PlannedTrial): string {
  const { case: item, round, order } = planned;
  const isTwin = cases.some(({ key, aa }) => key === item.key && aa);
  const title = titles.get(item.subject) ?? item.subject;
  const words = [title, pointText({ cases }, item), isTwin ? 'A/A' : '', `trial ${round + 1}`];
  return `${order + 1}/${total}  ${words.filter((word) => word !== '').join(', ')}`;
}
