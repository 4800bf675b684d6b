/** One worker as the primary sees it: its place, whether it serves, and its pending tasks. */

import type { Worker } from 'node:cluster';
import { messageOf } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';
import {
  asMessage,
  type ReplyMessage,
  type RequestMessage,
  type Result,
  STOP_MESSAGE,
  type Task,
  toError,
} from './protocol.ts';

/** A worker that has not ended this long after its deadline is killed. */
const KILL_AFTER_SECONDS = 1;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class Member {
  readonly worker: Worker;
  /**
   * Its place among the workers, which its replacement takes over: 0 to one less than their number. Null for a
   * standby worker, which has zones but no sockets.
   */
  place: number | null;
  /** The generation of the zones that it has or is loading; -1 before the first. */
  generation = -1;
  /** It has zones and accepts others; it may not serve yet. */
  isLoaded = false;
  /** When it began to serve, in milliseconds of `performance.now()`; undefined before. */
  readyAt: number | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(worker: Worker, place: number | null) {
    this.worker = worker;
    this.place = place;
    worker.on('message', (message: unknown) => {
      const known = asMessage(message);
      if (known?.kind === 'dinodns-server:reply') this.#settle(known);
    });
    worker.once('exit', () => this.#rejectAll());
  }

  /** Its process has ended or is unreachable. */
  get isGone(): boolean {
    return this.worker.isDead() || !this.worker.isConnected();
  }

  get isReady(): boolean {
    return this.readyAt !== undefined && !this.worker.isDead();
  }

  /** How long it has served, in seconds. */
  get readySeconds(): number | undefined {
    return this.readyAt === undefined ? undefined : (performance.now() - this.readyAt) / 1000;
  }

  /** Rejects with the worker's `ServerError`, or with `E_WORKER` if it ends or does not answer within `seconds`. */
  ask(task: Task, seconds: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const silent = () => this.#fail(id, `did not answer within ${seconds} s`);
      this.#waiting.set(id, { resolve, reject, timer: setTimeout(silent, seconds * 1000) });
      const request: RequestMessage = { kind: 'dinodns-server:request', id, task };
      if (!this.worker.isConnected()) this.#fail(id, 'has ended');
      else {
        this.worker.send(request, (error) => {
          if (error !== null) this.#fail(id, `cannot be reached: ${messageOf(error)}`);
        });
      }
    });
  }

  /** Gives it `seconds` to finish, then kills it. Resolves once it has ended. */
  stop(seconds: number): Promise<void> {
    const { worker } = this;
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

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  #settle({ id, outcome }: ReplyMessage): void {
    const waiting = this.#take(id);
    if ('failure' in outcome) waiting?.reject(toError(outcome.failure));
    else waiting?.resolve(outcome.result);
  }

  #fail(id: number, reason: string): void {
    const message = `Worker ${this.worker.process.pid} ${reason}.`;
    this.#take(id)?.reject(new ServerError('E_WORKER', message, 'See its messages above.'));
  }

  #rejectAll(): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, 'has ended');
  }
}
