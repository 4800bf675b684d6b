/**
 * The primary of a cluster: starts the workers, replaces those that end, and stops them all. It serves no
 * queries itself, so that nothing a client sends can reach it.
 */
import cluster, { type Worker } from 'node:cluster';
import { ServerError, stoppedEarly } from '../errors.ts';
import { Backoff, MAX_FAILED_STARTS } from './backoff.ts';
import { isFailure, PORT_VARIABLE, READY_MESSAGE, STOP_MESSAGE } from './messages.ts';

/** A worker that has not ended so long after it was due is killed. */
const KILL_AFTER_SECONDS = 1;

interface Member {
  readonly worker: Worker;
  readyAt: number | undefined;
}

export interface Primary {
  /** Resolves once every worker serves. Rejects with the reason why none is left instead. */
  start(): Promise<void>;
  /** Lets every worker finish for `seconds`, then kills it. Resolves once all have ended. */
  stop(seconds: number): Promise<void>;
  /** Rejects if workers keep dying while serving; never resolves. */
  readonly failed: Promise<never>;
}

function describeEnd(worker: Worker, code: number | null, signal: string | null): string {
  return `Worker ${worker.process.pid} ended with ${signal === null ? `status ${code}` : signal}`;
}

class WorkerPool implements Primary {
  readonly failed: Promise<never>;
  readonly #size: number;
  readonly #port: number;
  readonly #members = new Set<Member>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #backoff = new Backoff();
  #started: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #fail: (error: Error) => void = () => undefined;
  #isStopping = false;

  constructor(size: number, port: number) {
    this.#size = size;
    this.#port = port;
    this.failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    // Whoever cares awaits it; a rejection before that is not unhandled.
    this.failed.catch(() => undefined);
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#started = { resolve, reject };
      for (let index = 0; index < this.#size; index++) this.#fork();
    });
  }

  async stop(seconds: number): Promise<void> {
    await this.#end(seconds);
    this.#started?.reject(stoppedEarly());
  }

  async #end(seconds: number): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const ended = [...this.#members].map(({ worker }) => stopWorker(worker, seconds));
    await Promise.all(ended);
  }

  #fork(): void {
    const worker = cluster.fork({ [PORT_VARIABLE]: String(this.#port) });
    const member: Member = { worker, readyAt: undefined };
    this.#members.add(member);
    worker.on('message', (message: unknown) => {
      if (message === READY_MESSAGE) this.#onReady(member);
      // The port or the zones are wrong: another worker would find the same.
      else if (isFailure(message)) this.#giveUp(new ServerError(message.code, message.message, message.fix));
    });
    // Without a listener a worker that cannot be started would end the primary; `exit` follows.
    worker.on('error', (error) => console.error(`Worker: ${error.message}`));
    worker.once('exit', (code, signal) => this.#onExit(member, code, signal));
  }

  #onReady(member: Member): void {
    member.readyAt = performance.now();
    const ready = [...this.#members].filter(({ readyAt }) => readyAt !== undefined);
    if (ready.length === this.#size) this.#started?.resolve();
  }

  #onExit(member: Member, code: number | null, signal: string | null): void {
    this.#members.delete(member);
    if (this.#isStopping) return;
    const { readyAt, worker } = member;
    const delay = this.#backoff.ended(
      readyAt === undefined ? undefined : (performance.now() - readyAt) / 1000,
    );
    const what = describeEnd(worker, code, signal);
    if (delay === 'give up') {
      const message = `${what} before it was ready, as did ${MAX_FAILED_STARTS - 1} others before it.`;
      this.#giveUp(new ServerError('E_WORKER', message, 'Look at the messages of the workers above.'));
      return;
    }
    console.error(`${what}; another one starts in ${delay} s.`);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fork();
    }, delay * 1000);
    this.#timers.add(timer);
  }

  #giveUp(error: ServerError): void {
    if (this.#isStopping) return;
    void this.#end(0).then(() => {
      this.#started?.reject(error);
      this.#fail(error);
    });
  }
}

function stopWorker(worker: Worker, seconds: number): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isDead()) {
      resolve();
      return;
    }
    const kill = () => worker.process.kill('SIGKILL');
    const timer = setTimeout(kill, (seconds + KILL_AFTER_SECONDS) * 1000);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    if (seconds === 0) kill();
    else if (worker.isConnected()) worker.send(STOP_MESSAGE, () => undefined);
  });
}

/** A pool of `size` workers that run this program again and serve `port`. */
export function createPrimary(size: number, port: number): Primary {
  return new WorkerPool(size, port);
}
