/** The figures of a trial. Pure. */
import { type Estimand, lessOf } from '../../engine/estimand.ts';
import { median } from '../../stats/intervals.ts';
import { tellingPercentile } from './distribution.ts';
import type { LookupEvidence } from './evidence.ts';
import { asksNothingBefore, type LookupSettings } from './settings.ts';

const SHOWN = [50, 90, 99] as const;
const TIMED = ['lookup', 'connect'] as const;

/** Differences in seconds: a policy adds a time, whatever the lookup takes without it. All of them are one family of comparisons. */
function time(
  name: string,
  title: string,
  compared: 'difference' | 'no',
  of: Estimand<LookupEvidence>['of'],
): Estimand<LookupEvidence> {
  // The tail of a trial is too wide for --until to wait for.
  const awaited = !name.endsWith('P99');
  return { ...lessOf(name, title, 'seconds', compared, of), family: 'times', awaited };
}

const percentiles = TIMED.flatMap((phase) =>
  SHOWN.map((percentile) =>
    time(
      `${phase}P${percentile}`,
      `${phase} p${percentile}`,
      percentile === 90 ? 'no' : 'difference',
      ({ phases }) => tellingPercentile(phases[phase], percentile),
    ),
  ),
);

/** Of pods that had asked nothing before: the median over those of a trial. */
const first = TIMED.map((phase) =>
  time(`${phase}First`, `first ${phase}`, 'difference', ({ samplers }) => {
    const times = samplers.flatMap((sampler) => sampler.first?.[phase] ?? []);
    return times.length === 0 ? null : median(times);
  }),
);

const COUNTED: readonly Estimand<LookupEvidence>[] = [
  {
    ...lessOf('repeatedSyn', 'connections with a repeated SYN', 'ratio', 'difference', ({ packets }) => {
      // A packet that the capture lost may have been the repeated one, or the first of two.
      if (packets === null || !packets.isWhole) return null;
      const { connections, connectionsRepeated } = packets.handshakes;
      return connections === 0 ? null : connectionsRepeated / connections;
    }),
    awaited: false,
  },
  lessOf(
    'failedSamples',
    'failed samples',
    'ratio',
    'no',
    ({ samples: { taken, succeeded } }) => (taken - succeeded) / taken,
  ),
];

export function lookupEstimands(settings: LookupSettings): readonly Estimand<LookupEvidence>[] {
  return [...percentiles, ...(asksNothingBefore(settings) ? first : []), ...COUNTED];
}
