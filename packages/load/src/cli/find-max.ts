/** `--find-max` on the command line. */

import { EXIT_STATUS, given, type ProgramWorld, say, writeOut } from '@dinodns-bench/program';
import { loadError } from '../errors.ts';
import { type FindMaxResult, type FindMaxTrial, findMax } from '../find-max.ts';
import type { CannonInput } from '../options.ts';
import { duration, many, percent, whole } from '../report/numbers.ts';
import type { Flags } from './flags.ts';

/** Length of one trial where --duration does not say, seconds. RFC 8219 asks for 60. */
const DEFAULT_TRIAL_SECONDS = 5;

function trialLine({ repetition, rate, sustained, generatorLimited, result }: FindMaxTrial): string {
  const p99 = result.latencySeconds === null ? 'no answers' : `p99 ${duration(result.latencySeconds.p99)}`;
  const verdict = sustained ? 'held' : generatorLimited ? 'not held (generator limit)' : 'not held';
  const name = repetition === 0 ? 'bounds' : `search ${repetition}`;
  return `${name.padEnd(9)} ${whole(rate).padStart(9)}/s  lost ${percent(result.lostRatio)}  ${p99}  ${verdict}`;
}

function summary(result: FindMaxResult, trialSeconds: number): string {
  const { rate, low, high, maxima, generatorLimited } = result;
  const lines = [
    `Highest rate sustained: ${whole(rate)} queries per second`,
    `  1st to 99th percentile of ${many(maxima.length, 'search', 'searches')}: ${whole(low)} to ${whole(high)}`,
    `  each trial ${duration(trialSeconds)}`,
  ];
  if (generatorLimited)
    lines.push(
      '  The generator was the limit: the server can do more. Use more workers (-w), on',
      '  otherwise idle CPUs.',
    );
  return `${lines.join('\n')}\n`;
}

/** A percentage as a share. Checked here, because the library would name the share. */
function shareOf(
  flag: '--max-loss' | '--precision',
  value: number | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (value === undefined) return undefined;
  if (value >= least && value <= most) return value / 100;
  const fix = `give a percentage from ${least} to ${most}`;
  throw loadError('E_OPTIONS', `${flag} cannot be ${value}`, fix);
}

export async function runFindMax(input: CannonInput, flags: Flags, world: ProgramWorld): Promise<number> {
  const { load: _load, durationSeconds: _duration, ...base } = input;
  const trialSeconds = flags.duration ?? flags.limit ?? DEFAULT_TRIAL_SECONDS;
  const result = await findMax(
    {
      base,
      trialSeconds,
      ...given({
        maxLostRatio: shareOf('--max-loss', flags.maxLoss, [0, 100]),
        maxP99Seconds: flags.maxP99,
        repetitions: flags.trials,
        precision: shareOf('--precision', flags.precision, [0.01, 50]),
        high: flags.rate,
      }),
      onTrial: (trial) => {
        if (flags.progress) say(world, trialLine(trial));
        if (flags.ndjson === true)
          world.stdout.write(`${JSON.stringify({ type: 'trial', ...shortTrial(trial) })}\n`);
      },
    },
    { signal: world.signal },
  );
  const { trials, ...rest } = result;
  const record = { ...rest, trials: trials.map(shortTrial) };
  if (flags.ndjson === true) await writeOut(world, `${JSON.stringify({ type: 'result', ...rest })}\n`);
  else if (flags.json === true) await writeOut(world, `${JSON.stringify(record, null, 2)}\n`);
  else await writeOut(world, summary(result, trialSeconds));
  return result.rate > 0 ? EXIT_STATUS.success : EXIT_STATUS.server;
}

function shortTrial({ result, ...trial }: FindMaxTrial) {
  const { qps, lostRatio, latencySeconds } = result;
  return { ...trial, qps, lostRatio, p99Seconds: latencySeconds?.p99 ?? null };
}
