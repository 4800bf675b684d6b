/**
 * One load in its own process, for a program that accounts for the load's CPU time and memory separately:
 * `node driver.ts OPTIONS`, where OPTIONS are those of `cannon` as JSON. Prints one `DriverEvent` per line on
 * standard output. SIGTERM ends the load early. On an error, the exit status is that of the error.
 */
import type { DriverEvent } from './driver-event.ts';
import { LoadError } from './errors.ts';
import { cannon } from './run.ts';

function tell(event: DriverEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

try {
  const run = cannon(JSON.parse(process.argv[2] ?? '{}'));
  process.once('SIGTERM', () => run.stop());
  await run.started;
  tell({ event: 'started' });
  for await (const { toSeconds, qps } of run) tell({ event: 'interval', toSeconds, qps });
  tell({ event: 'result', result: await run.result });
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  tell({ event: 'error', code: error.code, message: error.message, fix: error.fix });
  process.exitCode = error.exitStatus;
}
