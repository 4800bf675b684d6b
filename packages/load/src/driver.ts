/**
 * One load in its own process, for a program that accounts for the load's CPU time and memory separately:
 * `node driver.ts OPTIONS [GATE]`, where OPTIONS are those of `cannon` as JSON, or `@` and the path of a file that holds
 * them, because Linux takes at most 128 KiB in one argument; and GATE is a `GateAddress` as JSON if the load is one of
 * several that start together. Prints one `DriverEvent` per line on standard output. SIGTERM ends the
 * load early. On an error, the exit status is that of the error.
 */
import { readFileSync } from 'node:fs';
import type { Counts } from './engine/measurements.ts';
import { LoadError } from './errors.ts';
import { type PassedGate, passGate } from './gate.ts';
import type { CannonResult, Interval } from './result/result.ts';
import { cannon } from './run.ts';

/** What is reported to the parent: one JSON value per line on standard output. */
export type DriverEvent =
  /** The first query has left. */
  | { readonly event: 'started' }
  /**
   * Those of the interval that were sent and answered, and those that were given up: sent a time-out ago; ICMP errors; its longest
   * latency.
   */
  | ({ readonly event: 'interval'; readonly slowestSeconds: number | null } & Readonly<
      Pick<Counts, 'sent' | 'answered' | 'lost' | 'refused'>
    > &
      Pick<Interval, 'toSeconds' | 'qps' | 'codes' | 'goodSeconds'>)
  | { readonly event: 'result'; readonly result: CannonResult }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly fix: string };

function tell(event: DriverEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const [options = '{}', gate] = process.argv.slice(2);
let passed: PassedGate | undefined;
try {
  const text = options.startsWith('@') ? readFileSync(options.slice(1), 'utf8') : options;
  const run = cannon(JSON.parse(text), {
    beforeFirst: async () => {
      if (gate !== undefined) passed = await passGate(JSON.parse(gate));
    },
  });
  process.once('SIGTERM', () => run.stop());
  await run.started;
  passed?.tell('started');
  tell({ event: 'started' });
  for await (const { toSeconds, qps, counts, codes, latencySeconds, goodSeconds } of run) {
    const { sent, answered, lost, unreachable } = counts;
    const own = { sent, answered, lost, refused: counts.refused + unreachable };
    const slowestSeconds = latencySeconds?.max ?? null;
    tell({ event: 'interval', toSeconds, qps, ...own, codes, slowestSeconds, goodSeconds });
  }
  const result = await run.result;
  passed?.tell('ended');
  tell({ event: 'result', result });
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  tell({ event: 'error', code: error.code, message: error.message, fix: error.fix });
  process.exitCode = error.exitStatus;
} finally {
  passed?.close();
}
