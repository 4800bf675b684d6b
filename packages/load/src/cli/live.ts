/** The live line: the last interval's figures, on a terminal only. */

import { type ProgramWorld, terminalOf } from '@dinodns-bench/program';
import { duration, percent, whole } from '../report/numbers.ts';
import type { Interval } from '../result/result.ts';

const COLUMNS = 80;
const ERASE_LINE = '\r\u001b[K';

/** One interval in at most 80 columns; parts that do not fit are dropped from the end. */
export function liveLine({ toSeconds, qps, latencySeconds, counts, codes }: Interval): string {
  const answered = Math.max(1, counts.answered);
  const byCount = Object.entries(codes).sort(([, a], [, b]) => b - a);
  const parts = [
    `${toSeconds.toFixed(0).padStart(4)} s`,
    `${whole(qps)} qps`,
    ...(latencySeconds === null
      ? ['no answers']
      : [`p50 ${duration(latencySeconds.p50)}`, `p99 ${duration(latencySeconds.p99)}`]),
    `lost ${whole(counts.lost)}`,
    ...byCount.map(([code, count]) => `${code} ${percent(count / answered)}`),
  ];
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}  ${part}`;
    if (longer.length >= COLUMNS) break;
    line = longer;
  }
  return line;
}

/** Shows each interval, on a terminal and where `wanted`; `end` removes the line. */
export function startLive(world: Pick<ProgramWorld, 'stderr' | 'env'>, wanted: boolean) {
  const { stderr } = world;
  if (!wanted || !terminalOf(stderr, world.env).live) {
    return { show: (_interval: Interval) => undefined, end: () => undefined };
  }
  return {
    show: (interval: Interval) => {
      stderr.write(`${ERASE_LINE}${liveLine(interval)}`);
    },
    end: () => {
      stderr.write(ERASE_LINE);
    },
  };
}
