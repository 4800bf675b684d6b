/** One campaign in a thread of its own, which its parent can end if an input never returns. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerData, WorkerMessage } from './campaign-thread.ts';
import { instrumentModules } from './instrument.ts';
import type { Target } from './target.ts';

/** The packages whose code is measured; what they import from elsewhere runs as it is. */
const MEASURED = /\/packages\/(?:load|server-cluster|wire|zones)\/src\//;
/** Time between two reports. */
const REPORT_SECONDS = 1;

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

async function run(data: WorkerData): Promise<void> {
  const { name, seed, corpus, runs, seconds } = data;
  instrumentModules((url) => MEASURED.test(url));
  const targets: Readonly<Record<string, Target>> = await import(data.module);
  const { Campaign } = await import('./campaign.ts');
  const target = Object.values(targets).find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  const current = new Uint8Array(data.current);
  const state = new Int32Array(data.state);
  const campaign = new Campaign(target, {
    seed,
    corpus: corpus.map((input) => Buffer.from(input)),
    onInput: (input) => {
      current.set(input.subarray(0, current.length));
      Atomics.store(state, 1, input.length);
      Atomics.add(state, 0, 1);
    },
    onKept: (input) => tell({ kind: 'kept', input }),
    onFinding: ({ input, error }) =>
      tell({
        kind: 'finding',
        input,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  });
  const report = () => {
    const { executions, corpusSize, coverage } = campaign;
    tell({ kind: 'progress', executions, corpus: corpusSize, sites: coverage.reached });
  };
  const end = performance.now() + seconds * 1000;
  let next = performance.now() + REPORT_SECONDS * 1000;
  await campaign.begin();
  while (campaign.executions < runs && performance.now() < end && (await campaign.round())) {
    // What targets leave to the event loop must not pile up.
    await nextTurn();
    if (performance.now() < next) continue;
    report();
    next = performance.now() + REPORT_SECONDS * 1000;
  }
  report();
}

await run(workerData);
