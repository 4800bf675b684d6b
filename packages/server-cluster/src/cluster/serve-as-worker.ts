/** A worker's side of the channel to the primary. */
import type { WorkerSnapshot } from '../metrics/snapshot.ts';
import { PreparedZones } from './prepared-zones.ts';
import {
  asMessage,
  type Message,
  type ReplyMessage,
  type RequestMessage,
  type Result,
  type Sent,
  STOP_MESSAGE,
  type StartedMessage,
  toFailure,
} from './protocol.ts';

/** The tasks that the primary can give to a worker. */
export interface WorkerTasks {
  /** Loads the initial zones. */
  load(sent: Sent): Promise<void>;
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

class RequestHandler {
  readonly #tasks: WorkerTasks;
  readonly #zones = new PreparedZones();

  constructor(tasks: WorkerTasks) {
    this.#tasks = tasks;
  }

  async answer({ id, task }: RequestMessage): Promise<void> {
    const kind = 'dinodns-server:reply';
    let outcome: ReplyMessage['outcome'];
    try {
      outcome = { result: await this.#run(task) };
    } catch (error) {
      outcome = { failure: toFailure(error) };
    }
    await send({ kind, id, outcome });
    // This worker cannot go on; its replacement may.
    if ('failure' in outcome && (task.task === 'load' || task.task === 'open')) process.exit(1);
  }

  async #run(task: RequestMessage['task']): Promise<Result> {
    switch (task.task) {
      case 'load':
        await this.#tasks.load(task);
        return null;
      case 'open':
        return this.#tasks.open();
      case 'prepare':
        await this.#zones.prepare(task.attempt, () => this.#tasks.prepare(task));
        return null;
      case 'commit':
        this.#zones.commit(task.attempt, task.generation);
        return null;
      case 'abort':
        this.#zones.abort(task.attempt);
        return null;
      case 'snapshot':
        return this.#tasks.snapshot();
    }
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
  const requests = new RequestHandler(tasks);
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop();
    const known = asMessage(message);
    if (known?.kind === 'dinodns-server:request') void requests.answer(known);
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // A signal to the whole process group also reaches the primary, which handles all workers together.
  process.on('SIGHUP', () => undefined);
  const started: StartedMessage = { kind: 'dinodns-server:started' };
  await send(started);
}
