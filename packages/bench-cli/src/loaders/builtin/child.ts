/**
 * The load generator in a process of its own, so that its CPU time and memory are counted apart from bench's:
 * `node child.ts OPTIONS`, with `GENERATOR_NODE_FLAGS`, where OPTIONS are `cannon`'s as JSON. Prints events, see
 * `events.ts`.
 */
import { cannon, LoadError } from '@dinodns-bench/load';
import type { BuiltinEvent } from './events.ts';

function tell(event: BuiltinEvent): void {
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
