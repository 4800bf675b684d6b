/**
 * The primary of a cluster: starts the workers, replaces those that end, gives them new zones, and stops them. It
 * serves no queries itself, so that clients cannot reach it.
 */
import cluster, { type Worker } from 'node:cluster';
import { messageOf } from '@dinodns-bench/program';
import type { Ports } from '../endpoint/ports.ts';
import { ServerError, stoppedEarly } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { WorkerSnapshot } from '../metrics/counters.ts';
import { waitUntil } from '../network/managed-network.ts';
import { TICKET_SALT_VARIABLE, ticketSalt } from '../network/tls-credentials.ts';
import type { Secrets } from '../profiles/profile.ts';
import { Backoff, MAX_DELAY_SECONDS, MAX_FAILED_STARTS } from './backoff.ts';
import { Member } from './member.ts';
import { asMessage, PORTS_VARIABLE, type Sent, toError, toFailure, WORKERS_VARIABLE } from './protocol.ts';
import { reloadMembers } from './reload.ts';
import type { SnapshotFile } from './zones-snapshot.ts';

/** A worker that takes longer to answer is omitted from the metrics; it may be loading zones. */
const SNAPSHOT_SECONDS = 1;
/** Loading a million zones on a slow CPU takes about a minute. */
const LOAD_SECONDS = 120;
const OPEN_SECONDS = 30;
/**
 * A worker that serves is asked so often whether it still does. One that twice in a row does not answer hangs, in somebody's handler or because
 * it was stopped, and is replaced. Twice, because after a pause of the whole machine no answer has come in time.
 */
const WATCH_SECONDS = 5;
const HUNG_SECONDS = 8;
/** How long a reload waits for a worker that can check the zones. */
const FIRST_LOADED_SECONDS = 30;

export interface Primary {
  /** Resolves once every worker serves. Rejects with the cause if none could start. */
  start(): Promise<void>;
  /** Gives every worker `seconds` to finish, then kills it. Resolves once all have ended. */
  stop(seconds: number): Promise<void>;
  /** Rejects if serving workers keep dying; never resolves. */
  readonly failed: Promise<never>;
}

/** What all workers serve, and those that replace them. */
export interface Served {
  /** Null: the zones that the program loads. */
  readonly zones: SnapshotFile | null;
  readonly secrets: Secrets;
}

interface PoolOptions {
  readonly size: number;
  /** Additional standby workers, which replace a worker that ends at once. */
  readonly standby: number;
  readonly ports: Ports;
  /** What workers start with. */
  readonly served: Served;
  readonly log: Log;
}

const NOT_STARTED = 'A worker could not be started';

function describeEnd({ process: { pid } }: Worker, code: number | null, signal: string | null): string {
  if (pid === undefined) return NOT_STARTED;
  return `Worker ${pid} ended with ${signal === null ? `status ${code}` : signal}`;
}

/** Why another worker has to be started. */
interface End {
  readonly what: string;
  /** How long it had served, in seconds; undefined if it never did. */
  readonly readySeconds?: number | undefined;
  readonly wasKilled?: boolean;
  /** More to be logged. */
  readonly details?: object;
}

/** Signals sent from outside; a worker causes the others itself. */
function isKill(signal: string | null): boolean {
  return signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT';
}

/** As workers are told. */
async function sent({ zones, secrets }: Served): Promise<Sent> {
  return { zonesFile: zones === null ? null : await zones.path(), secrets };
}

/** A pool of workers that run this program again and serve these ports. */
export class PoolPrimary implements Primary {
  readonly #failure = Promise.withResolvers<never>();
  readonly failed = this.#failure.promise;
  readonly size: number;
  restarts = 0;
  /** The workers' UDP backend; undefined before the first is ready. */
  udpBackend: string | undefined;
  readonly #options: PoolOptions;
  readonly #members = new Set<Member>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #ticketSalt = ticketSalt();
  readonly #backoffs: readonly Backoff[];
  #hasStarted = false;
  readonly #started = Promise.withResolvers<void>();
  #isStopping = false;
  #served: Served;
  #generation = 0;
  #attempts = 0;

  constructor(options: PoolOptions) {
    this.size = options.size;
    this.#options = options;
    this.#served = options.served;
    // The last one is for the standby workers.
    this.#backoffs = Array.from({ length: options.size + 1 }, () => new Backoff());
    // Without this, a rejection that nobody awaits yet would count as unhandled.
    for (const promise of [this.failed, this.#started.promise]) promise.catch(() => undefined);
  }

  /** Workers that serve. */
  get ready(): number {
    return this.#readyMembers().length;
  }

  start(): Promise<void> {
    for (let place = 0; place < this.size; place++) this.#fork(place);
    for (let count = 0; count < this.#options.standby; count++) this.#fork(null);
    return this.#started.promise;
  }

  async stop(seconds: number): Promise<void> {
    await this.#end(seconds);
    this.#started.reject(stoppedEarly());
  }

  /** Switches all workers and their later replacements to these zones and secrets. */
  async reload(served: Served): Promise<void> {
    // Right after a worker died there may be none, but there soon is.
    await waitUntil(() => this.#loadedMembers().length > 0 || this.#isStopping, FIRST_LOADED_SECONDS);
    if (this.#loadedMembers().length === 0) {
      const problem = 'No worker is ready to reload zones.';
      throw new ServerError('E_WORKER', problem, 'Try again once /ready reports ready.');
    }
    const generation = this.#generation + 1;
    await reloadMembers(
      () => this.#loadedMembers(),
      { ...(await sent(served)), generation, attempt: ++this.#attempts },
      this.#options.log,
      () => {
        this.#generation = generation;
        this.#served = served;
      },
    );
  }

  /** Snapshots of the workers that answer in time, by place. */
  async snapshots(): Promise<Map<number, WorkerSnapshot>> {
    const found = new Map<number, WorkerSnapshot>();
    const asked = this.#readyMembers().map(async (member) => {
      const snapshot = await member.ask({ task: 'snapshot' }, SNAPSHOT_SECONDS).catch(() => null);
      if (snapshot !== null && typeof snapshot === 'object') found.set(member.place ?? 0, snapshot);
    });
    await Promise.all(asked);
    return new Map([...found].sort(([one], [other]) => one - other));
  }

  #loadedMembers(): Member[] {
    return [...this.#members].filter(({ isLoaded, isGone }) => isLoaded && !isGone);
  }

  #readyMembers(): Member[] {
    return [...this.#members].filter(({ isReady }) => isReady);
  }

  async #end(seconds: number): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all([...this.#members].map((member) => member.stop(seconds)));
  }

  #fork(place: number | null): void {
    let worker: Worker;
    try {
      worker = cluster.fork({
        [PORTS_VARIABLE]: JSON.stringify(this.#options.ports),
        [TICKET_SALT_VARIABLE]: this.#ticketSalt,
        [WORKERS_VARIABLE]: String(this.size),
      });
    } catch (error) {
      // So Node.js tells of what it does not expect of the system, such as ENOMEM.
      this.#options.log.error({ error: messageOf(error) }, 'A worker failed');
      this.#replace(place, { what: NOT_STARTED });
      return;
    }
    const member = new Member(worker, place);
    this.#members.add(member);
    worker.on('message', (message: unknown) => {
      const known = asMessage(message);
      if (known?.kind === 'dinodns-server:started') void this.#open(member);
    });
    // Without a listener, a worker that cannot be started would end the primary.
    worker.on('error', (error) => {
      this.#options.log.error({ error: error.message }, 'A worker failed');
      const { process } = worker;
      // No exit follows where there was no process (EAGAIN, EMFILE): what waits for its end is told here.
      if (process.pid === undefined) process.emit('exit', process.exitCode, null);
    });
    worker.once('exit', (code, signal) => this.#onExit(member, code, signal));
  }

  /** Makes a worker load the current zones, and serve them if it has a place. */
  async #open(member: Member): Promise<void> {
    try {
      if (!member.isLoaded) await this.#load(member);
      if (member.place === null) return;
      const udpBackend = await member.ask({ task: 'open' }, OPEN_SECONDS);
      this.#onReady(member, String(udpBackend));
    } catch (error) {
      // The exit handler deals with workers that end.
      if (member.isGone) return;
      this.#onFailure(toError(toFailure(error)));
      await member.stop(SNAPSHOT_SECONDS);
    }
  }

  async #load(member: Member): Promise<void> {
    member.generation = this.#generation;
    await member.ask({ task: 'load', ...(await sent(this.#served)) }, LOAD_SECONDS);
    while (member.generation !== this.#generation && !member.isGone) {
      const [served, generation, attempt] = [this.#served, this.#generation, ++this.#attempts];
      const reload = { ...(await sent(served)), generation, attempt };
      await reloadMembers(() => [member], reload, this.#options.log);
    }
    member.isLoaded = true;
  }

  #onReady(member: Member, udpBackend: string): void {
    member.readyAt = performance.now();
    this.udpBackend = udpBackend;
    const { pid } = member.worker.process;
    this.#options.log.info({ worker: member.place, workerPid: pid, udpBackend }, 'Worker ready');
    void this.#watch(member);
    if (this.ready < this.size) return;
    this.#hasStarted = true;
    this.#started.resolve();
  }

  async #watch(member: Member): Promise<void> {
    const answers = () =>
      member.ask({ task: 'snapshot' }, HUNG_SECONDS).then(
        () => true,
        () => false,
      );
    do await this.#pause(WATCH_SECONDS);
    while ((await answers()) || (await answers()));
    if (member.isGone || this.#isStopping) return;
    const { pid } = member.worker.process;
    this.#options.log.error(
      { worker: member.place, workerPid: pid },
      `Worker ${pid} has not answered for ${2 * HUNG_SECONDS} s and is ended.`,
    );
    await member.stop(0);
  }

  /** Before the server has started, the port or the zones are wrong: another worker would fail too. */
  #onFailure(error: ServerError): void {
    if (!this.#hasStarted) this.#giveUp(error);
    // Once the server runs, one worker that cannot start must not end the others.
    else this.#options.log.error({ code: error.code, fix: error.fix }, error.message);
  }

  #onExit(member: Member, code: number | null, signal: string | null): void {
    this.#members.delete(member);
    const { place, readySeconds, worker } = member;
    this.#replace(place, {
      what: describeEnd(worker, code, signal),
      readySeconds,
      wasKilled: isKill(signal),
      details: { workerPid: worker.process.pid, status: code, signal },
    });
  }

  #replace(place: number | null, { what, readySeconds, wasKilled, details }: End): void {
    if (this.#isStopping) return;
    if (place !== null) this.restarts++;
    const delay = this.#backoffs[place ?? this.size]?.ended(readySeconds, wasKilled) ?? 'give up';
    if (delay === 'give up' && this.ready === 0) {
      const message = `${what}, as at least ${MAX_FAILED_STARTS - 1} in a row before it: none was ever ready.`;
      this.#giveUp(new ServerError('E_WORKER', message, 'See the messages of the workers above.'));
      return;
    }
    const seconds = delay === 'give up' ? MAX_DELAY_SECONDS : delay;
    const successor = place === null ? undefined : this.#promote(place);
    const instead =
      successor === undefined ? '' : ` worker ${successor.worker.process.pid} takes its place, and`;
    this.#options.log.warn(
      { worker: place, ...details, seconds },
      `${what};${instead} another one starts in ${seconds} s.`,
    );
    void this.#pause(seconds).then(() => this.#fork(successor === undefined ? place : null));
  }

  /** Gives the place to a standby worker; undefined if none can serve. */
  #promote(place: number): Member | undefined {
    const successor = this.#loadedMembers().find((member) => member.place === null);
    if (successor === undefined) return undefined;
    successor.place = place;
    void this.#open(successor);
    return successor;
  }

  /** Never resolves if the cluster stops meanwhile. */
  #pause(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, seconds * 1000);
      this.#timers.add(timer);
    });
  }

  #giveUp(error: ServerError): void {
    if (this.#isStopping) return;
    void this.#end(0).then(() => {
      this.#started.reject(error);
      this.#failure.reject(error);
    });
  }
}
