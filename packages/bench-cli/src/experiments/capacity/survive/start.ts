/** One start of CoreDNS under a memory limit: all that it has to survive, one after the other, until it is killed. */
import { type ClusterSpec, defineCluster, serviceName } from '@dinodns-bench/cluster-objects';
import { createDnsClient, type DnsClient, DnsQueryError } from '../../../dns/client.ts';
import type { LoadOutcome } from '../../../loaders/loader.ts';
import type { MemoryGroup } from '../../../targets/local/memory-group.ts';
import type { World } from '../../../world.ts';
import { type AnnouncedService, isCorednsReady } from '../api-control.ts';
import type { DeployedCoredns } from '../deploy-coredns.ts';
import { forgetPeak, readPeak } from '../memory/memory-of.ts';
import type { QueryFiles } from '../memory/queries.ts';
import {
  CorednsLateError,
  fillCache,
  QUICK_PACE,
  type StartParts,
  untilQuiet,
  untilRead,
} from '../memory/start.ts';
import { aloneAfter } from '../one-at-a-time.ts';
import type { Scenario, ScenarioResult, StartResult } from './evidence.ts';
import { underQueries } from './under-queries.ts';

export interface StartContext {
  readonly world: World;
  readonly point: StartParts['point'];
  readonly limitBytes: number;
  readonly group: Pick<MemoryGroup, 'kills'>;
  readonly queries: QueryFiles;
  readonly outageSeconds: number;
  /** Only one start at a time does such work, but for the outages. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  deploy(): Promise<DeployedCoredns>;
  /** Sends queries for some seconds: at the rate of the run, whether or not they are answered, or as many as are answered. */
  load(
    deployed: DeployedCoredns,
    load: {
      file: string;
      seconds: number;
      isPaced: boolean;
      onStarted?: () => void;
      signal: AbortSignal;
    },
  ): Promise<LoadOutcome>;
  onPhase(phase: Scenario): void;
  readonly signal: AbortSignal;
}

export interface Start {
  readonly result: StartResult;
  /** Resources that CoreDNS read as streams. */
  readonly streamed: readonly string[];
}

/** A name and its right answer. */
type Right = AnnouncedService;

/** Names of a scenario: each is asked for once, as long as there are any, so that no cache has it. */
const NAMES = 48;

/** Between two questions: a tenth of the time so far, so that it is known to a tenth; and few names last for this long. */
const NAMES_LAST_SECONDS = 6;
const POLL_SHARE = 0.1;
const ASK_SECONDS = 1;

/** After an outage, CoreDNS waits for half a minute between two attempts; a busy machine reads a few thousand objects a second. */
const RIGHT_SECONDS = 90;
const MIN_OBJECTS_PER_SECOND = 1000;

/** Of the Services. */
const REPLACED_SHARE = 0.1;

/** CoreDNS lives, but its answers are not right in time. */
class Stuck extends Error {}

/** Only what CoreDNS has not done: an API server of ours that does not answer is a fault of the measurement. */
function stuckIfLate(error: unknown): never {
  throw error instanceof CorednsLateError ? new Stuck() : error;
}

/** A start that is under way. */
interface Running extends StartContext, StartParts {
  readonly deployed: DeployedCoredns;
  readonly client: DnsClient;
  /** The most anonymous memory of each scenario so far. */
  readonly peaks: number[];
}

async function answerTo(client: DnsClient, name: string): Promise<readonly string[]> {
  try {
    const { answers } = await client.ask({ name, type: 'A' }, { timeoutSeconds: ASK_SECONDS });
    return answers.flatMap((answer) => ('data' in answer ? String(answer.data) : []));
  } catch (error) {
    if (error instanceof DnsQueryError) return [];
    throw error;
  }
}

function isRight(data: readonly string[], { address }: Right): boolean {
  return data.length === 1 && data[0] === address;
}

/** Until it is so; resolves with the seconds since `begin`. Rejects with `Stuck` if it takes too long. */
async function until(
  { world: { clock }, point, signal }: StartContext,
  begin: number,
  names: number,
  isSo: (attempt: number) => Promise<boolean>,
): Promise<number> {
  const { services, pods, endpoints } = point.cluster;
  const limit = RIGHT_SECONDS + (services + pods + endpoints) / MIN_OBJECTS_PER_SECOND;
  for (let attempt = 0; ; attempt += 1) {
    const isDone = await isSo(attempt);
    const seconds = clock.monotonicSeconds() - begin;
    if (isDone) return seconds;
    if (seconds > limit) throw new Stuck();
    await clock.sleep(Math.max(NAMES_LAST_SECONDS / names, seconds * POLL_SHARE), signal);
  }
}

function untilRight(start: Running, begin: number, names: readonly Right[]): Promise<number> {
  return until(start, begin, names.length, async (attempt) => {
    const right = names[attempt % names.length];
    return right === undefined || isRight(await answerTo(start.client, right.name), right);
  });
}

/** Services that the cluster has from the beginning, from all of it; the last one first, since CoreDNS gets it last. */
function presentNames(spec: ClusterSpec): Right[] {
  const cluster = defineCluster(spec);
  const others = spec.services - cluster.headlessServices;
  const count = Math.min(NAMES, others);
  return Array.from({ length: count }, (_, at) => {
    const service = cluster.service(
      cluster.nthService(false, others - 1 - Math.floor((at * others) / count)),
    );
    return { name: serviceName(cluster, service), address: service.addresses[0] ?? '' };
  });
}

/** Services that will be created after a while, also while nobody can reach the API server. */
async function announcedNames({ running }: Running, afterSeconds: number): Promise<Right[]> {
  const announcing = Array.from({ length: NAMES }, () => running.api.announce(afterSeconds));
  return Promise.all(announcing);
}

/** Sends queries for as long as `work` takes; `firstSeconds` of it are known. */
function whileAsked<T>(start: Running, firstSeconds: number, work: () => Promise<T>) {
  const { deployed, queries, signal, world } = start;
  return underQueries(
    {
      ...{ clock: world.clock, firstSeconds, signal },
      load: (load) => start.load(deployed, { ...load, file: queries.load, isPaced: true }),
    },
    work,
  );
}

/**
 * Begins a new peak, and keeps the one before: `untilQuiet` sees only what rises above it. Before each scenario, which may need
 * less than an earlier one.
 */
async function newPeak({ world, running, peaks }: Running): Promise<void> {
  peaks.push((await readPeak(world, running.pid)).anonymousBytes);
  await forgetPeak(world, running.pid);
}

/** Answers are right: until everything else is read as well. */
async function allRead(start: Running, before: Readonly<Record<string, number>>): Promise<void> {
  await untilRead(start, before).catch(stuckIfLate);
}

async function coldStart(start: Running): Promise<ScenarioResult> {
  const { running, signal, point } = start;
  await until(start, running.startedAtSeconds, NAMES, () => isCorednsReady(running.readyPort, signal));
  const rightSeconds = await untilRight(start, running.startedAtSeconds, presentNames(point.cluster));
  await allRead(start, {});
  await untilQuiet(start);
  return { name: 'cold start', rightSeconds, queries: null };
}

/** Under queries, until answers are right again and memory rises no more. */
async function under(
  start: Running,
  name: Scenario,
  happen: () => Promise<{ readonly names: readonly Right[]; readonly isReadAgain: boolean; begin: number }>,
): Promise<ScenarioResult> {
  start.onPhase(name);
  await newPeak(start);
  const { reads } = await start.running.api.status();
  const { done, counts } = await whileAsked(start, 1, async () => {
    const { names, isReadAgain, begin } = await happen();
    const rightSeconds = names.length === 0 ? null : await untilRight(start, begin, names);
    await allRead(start, isReadAgain ? reads : {});
    return rightSeconds;
  });
  // Without queries, whose garbage would make it rise for long: what was read is processed when it rises no more.
  await untilQuiet(start);
  return { name, rightSeconds: done, queries: counts };
}

function relist(start: Running): Promise<ScenarioResult> {
  return under(start, 'relist', async () => {
    const begin = start.world.clock.monotonicSeconds();
    await start.running.api.expire();
    return { begin, names: await announcedNames(start, 0), isReadAgain: true };
  });
}

function replaced(start: Running): Promise<ScenarioResult> {
  return under(start, 'replaced endpoints', async () => {
    const begin = start.world.clock.monotonicSeconds();
    return { begin, names: await start.running.api.replace(REPLACED_SHARE), isReadAgain: false };
  });
}

/** Its time is that after the outage: until then, answers are as right as before. */
async function outage(start: Running): Promise<ScenarioResult> {
  const { world, running, outageSeconds, signal } = start;
  start.onPhase('API server outage');
  const names = await announcedNames(start, outageSeconds / 2);
  const { reads } = await running.api.status();
  await running.api.outage(outageSeconds);
  const begin = world.clock.monotonicSeconds() + outageSeconds;
  const { done, counts } = await whileAsked(start, Math.ceil(outageSeconds), async () => {
    await world.clock.sleep(outageSeconds, signal);
    await newPeak(start);
    const rightSeconds = await untilRight(start, begin, names);
    await allRead(start, reads);
    return rightSeconds;
  });
  await untilQuiet(start);
  await newPeak(start);
  return { name: 'API server outage', rightSeconds: done, queries: counts };
}

/** Resources that were read and never listed. */
async function streamedIn({ running }: Running): Promise<string[]> {
  const { reads, lists } = await running.api.status();
  return Object.keys(reads).filter((name) => (lists[name] ?? 0) === 0);
}

/** All of it, in order; what is survived is added to `scenarios`. */
async function endure(
  context: StartContext,
  own: (deployed: DeployedCoredns, client: DnsClient) => void,
  scenarios: ScenarioResult[],
): Promise<Pick<Start, 'streamed'> & { peakBytes: number }> {
  const { world, point, queries, alone, signal } = context;
  const { start, activeSeconds } = await alone(async () => {
    context.onPhase('cold start');
    const begin = world.clock.monotonicSeconds();
    const deployed = await context.deploy();
    const { address, port } = deployed.instance;
    const client = createDnsClient({ address, port }, 'udp', world.clock);
    own(deployed, client);
    const { running } = deployed;
    const started: Running = { ...context, deployed, client, running, pace: QUICK_PACE, peaks: [] };
    const living = async () => {
      scenarios.push(await coldStart(started));
      context.onPhase('relist');
      await fillCache({
        ...{ world, point, queries, signal, running, pace: QUICK_PACE },
        load: (file, seconds) => context.load(deployed, { file, seconds, isPaced: false, signal }),
      });
      scenarios.push(await relist(started));
      scenarios.push(await replaced(started));
    };
    await Promise.race([living(), running.died]);
    return { start: started, activeSeconds: world.clock.monotonicSeconds() - begin };
  });
  const living = async () => {
    // Everything is read again when it ends. A start of another lane that began just before takes about as long as this one did.
    const aloneFrom = context.outageSeconds - activeSeconds;
    scenarios.push(await aloneAfter(aloneFrom, { ...context, clock: world.clock }, () => outage(start)));
    return { peakBytes: Math.max(...start.peaks), streamed: await streamedIn(start) };
  };
  return Promise.race([living(), start.running.died]);
}

/**
 * Starts CoreDNS under the limit of its group and says how it ended. Rejects for what is no matter of memory: the trial
 * fails then.
 */
export async function startUnder(context: StartContext): Promise<Start> {
  const { limitBytes, group, signal } = context;
  const scenarios: ScenarioResult[] = [];
  const ended = new AbortController();
  let during: Scenario = 'cold start';
  let close = async () => Promise.resolve();
  const result = (outcome: StartResult['outcome'], peakBytes: number | null): StartResult => ({
    ...{ limitBytes, outcome, peakBytes, scenarios },
    during: outcome === 'survived' ? null : during,
  });
  try {
    const { peakBytes, streamed } = await endure(
      {
        ...context,
        signal: AbortSignal.any([signal, ended.signal]),
        onPhase: (scenario) => {
          during = scenario;
          context.onPhase(scenario);
        },
      },
      ({ deployment }, client) => {
        close = async () => {
          client.close();
          await deployment.remove();
        };
      },
      scenarios,
    );
    return { result: result('survived', peakBytes), streamed };
  } catch (error) {
    signal.throwIfAborted();
    // The kernel counts it before the process is gone.
    if ((await group.kills()) > 0) return { result: result('killed', null), streamed: [] };
    if (error instanceof Stuck) return { result: result('stuck', null), streamed: [] };
    throw error;
  } finally {
    ended.abort();
    await close();
  }
}
