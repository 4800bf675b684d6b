/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/neighbour.ts [--seconds 60] [--seed 1] [--share 0.6]`
 *
 * A neighbour that disturbs measurements on purpose: takes a random share of all CPUs, from none to `--share`, in phases of 2
 * to 20 seconds. With the same seed, it does the same at the same times. Ends by itself.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { seededRandom } from '../src/stats/random.ts';

/** Each thread works and rests in turns of this length together: short enough to be even, long enough to be scheduled. */
const TURN_MILLISECONDS = 20;
const PHASE_SECONDS = { shortest: 2, longest: 20 };

interface Phase {
  readonly seconds: number;
  readonly share: number;
}

function phasesOf(seconds: number, seed: string, share: number): Phase[] {
  const next = seededRandom(seed);
  const phases: Phase[] = [];
  for (let total = 0; total < seconds; total += phases.at(-1)?.seconds ?? 0) {
    const { shortest, longest } = PHASE_SECONDS;
    phases.push({ seconds: shortest + next() * (longest - shortest), share: next() * share });
  }
  return phases;
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function work(phases: readonly Phase[], seconds: number): void {
  const end = performance.now() + seconds * 1000;
  for (const phase of phases) {
    const phaseEnd = Math.min(end, performance.now() + phase.seconds * 1000);
    while (performance.now() < phaseEnd) {
      const busyUntil = performance.now() + TURN_MILLISECONDS * phase.share;
      while (performance.now() < busyUntil);
      pause(TURN_MILLISECONDS * (1 - phase.share));
    }
  }
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      share: { type: 'string', default: '0.6' },
    },
  });
  const seconds = Number(values.seconds);
  const phases = phasesOf(seconds, values.seed, Number(values.share));
  for (let index = 0; index < availableParallelism(); index += 1) {
    new Worker(new URL(import.meta.url), { workerData: { phases, seconds } });
  }
} else {
  const { phases, seconds } = workerData as { phases: Phase[]; seconds: number };
  work(phases, seconds);
}
