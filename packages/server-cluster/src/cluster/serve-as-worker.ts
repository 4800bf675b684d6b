/** A worker's side of the channel to the primary. */
import type { WorkerSnapshot } from '../metrics/counters.ts';
import {
  asMessage,
  type Message,
  type ReplyMessage,
  type RequestMessage,
  type Result,
  type Sent,
  STOP_MESSAGE,
  type Task,
  toFailure,
} from './protocol.ts';

/** The tasks that the primary can give to a worker. */
export interface WorkerTasks {
  /** Binds and serves. Resolves with the UDP backend. */
  open(): Promise<string>;
  shutdown(): Promise<void>;
  /** Loads zones; the returned function switches to them. */
  prepare(sent: Sent): Promise<() => void>;
  snapshot(): WorkerSnapshot;
}

function send(message: Message): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

/** The zones that a worker has loaded, or is loading, and does not serve yet. */
export class PreparedZones {
  readonly #loading = new Set<number>();
  /** What switches to the zones of an attempt. */
  readonly #loaded = new Map<number, () => void>();
  #generation = 0;

  /** Rejects as `load` does. `attempt` is used only once. */
  async prepare(attempt: number, load: () => Promise<() => void>): Promise<void> {
    this.#loading.add(attempt);
    try {
      const swap = await load();
      // Aborted meanwhile: these zones must not be served, whatever was decided since.
      if (this.#loading.has(attempt)) this.#loaded.set(attempt, swap);
    } finally {
      this.#loading.delete(attempt);
    }
  }

  /** Discards the zones of this attempt, if there are any, also while they are being loaded. */
  abort(attempt: number): void {
    this.#loading.delete(attempt);
    this.#loaded.delete(attempt);
  }

  /**
   * Switches to the zones of this attempt, unless later ones are served: two reloads overlap in a worker that started during
   * the first. Throws if there are none.
   */
  commit(attempt: number, generation: number): void {
    const swap = this.#loaded.get(attempt);
    this.#loaded.delete(attempt);
    if (swap === undefined) throw new Error(`Attempt ${attempt} has no zones to switch to.`);
    if (generation < this.#generation) return;
    this.#generation = generation;
    swap();
  }
}

async function run(tasks: WorkerTasks, zones: PreparedZones, task: Task): Promise<Result> {
  switch (task.task) {
    case 'load':
      (await tasks.prepare(task))();
      return null;
    case 'open':
      return tasks.open();
    case 'prepare':
      await zones.prepare(task.attempt, () => tasks.prepare(task));
      return null;
    case 'commit':
      zones.commit(task.attempt, task.generation);
      return null;
    case 'abort':
      zones.abort(task.attempt);
      return null;
    case 'snapshot':
      return tasks.snapshot();
  }
}

/**
 * Runs the primary's tasks, first of all to load and to open. Ends the process when the primary says so, or when
 * this process itself receives SIGTERM or SIGINT. If the primary dies, Node.js ends the worker.
 */
export async function serveAsWorker(tasks: WorkerTasks): Promise<void> {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    void tasks.shutdown().then(() => process.exit(0));
  };
  const zones = new PreparedZones();
  const answer = async ({ id, task }: RequestMessage) => {
    const outcome: ReplyMessage['outcome'] = await run(tasks, zones, task).then(
      (result) => ({ result }),
      (error: unknown) => ({ failure: toFailure(error) }),
    );
    await send({ kind: 'dinodns-server:reply', id, outcome });
    // This worker cannot go on; its replacement may.
    if ('failure' in outcome && (task.task === 'load' || task.task === 'open')) process.exit(1);
  };
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop();
    const known = asMessage(message);
    if (known?.kind === 'dinodns-server:request') void answer(known);
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // A signal to the whole process group also reaches the primary, which handles all workers together.
  process.on('SIGHUP', () => undefined);
  await send({ kind: 'dinodns-server:started' });
}
