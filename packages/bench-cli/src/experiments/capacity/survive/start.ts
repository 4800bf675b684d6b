/** One start of CoreDNS under a memory limit: all that it has to survive, one after the other, until it is killed. */
import { createDnsClient, type DnsClient } from '../../../dns/client.ts';
import { BenchError, LateError } from '../../../errors.ts';
import type { LoadOutcome } from '../../../loaders/loader.ts';
import { aloneAfter, type OneAtATime } from '../../../one-at-a-time.ts';
import type { MemoryGroup } from '../../../targets/local/memory-group.ts';
import type { World } from '../../../world.ts';
import { isCorednsReady } from '../api-control.ts';
import type { DeployedCoredns } from '../deploy-coredns.ts';
import { PROGRAM_BYTES } from '../figures.ts';
import { forgetPeak, readPeak } from '../memory/memory-of.ts';
import type { QueryFiles } from '../memory/queries.ts';
import {
  fillCache,
  isFull,
  PACE,
  QUICK_PACE,
  type StartParts,
  untilQuiet,
  untilRead,
} from '../memory/start.ts';
import { isPeakOwn, type Scenario, type ScenarioResult, type StartResult } from './evidence.ts';
import { inTime, Stuck, type Timing } from './in-time.ts';
import type { StepSeconds } from './patience.ts';
import { REPLACED_SHARE, type Variant } from './points.ts';
import { announcedNames, presentNames, type Right, until, untilRight } from './right-answers.ts';
import { underQueries } from './under-queries.ts';

/** Of the whole program, once. A start with fewer pages that came back had room for those that it uses. */
const PROGRAM_PAGES = PROGRAM_BYTES / 4096;

export interface StartContext {
  readonly world: World;
  readonly point: StartParts['point'] & Pick<Variant, 'gomemlimit'>;
  readonly limitBytes: number;
  readonly group: Pick<MemoryGroup, 'kills' | 'rereads'>;
  readonly queries: QueryFiles;
  readonly outageSeconds: number;
  /** Of a start of the same search that survived; empty before there is one. */
  readonly usual: StepSeconds;
  /** Only one start at a time does such work, except for the outages. */
  readonly alone: OneAtATime;
  /** Makes the executable, whose pages count against the limit. The time that it takes says nothing of CoreDNS. */
  prepare(): Promise<string>;
  /** Leaves nothing behind where it rejects. */
  deploy(executable: string, signal: AbortSignal): Promise<DeployedCoredns>;
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
  /** Of the steps that it came through. */
  readonly steps: StepSeconds;
}

interface Timed extends StartContext, Pick<Timing, 'steps' | 'api'> {}

/** A start that is under way. */
interface Running extends Timed, Omit<StartParts, 'point'> {
  readonly deployed: DeployedCoredns;
  readonly client: DnsClient;
  /** The most anonymous memory of each scenario so far. */
  readonly peaks: number[];
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

async function coldStart(start: Running): Promise<ScenarioResult> {
  const { running, signal, point } = start;
  await until(start, running.startedAtSeconds, () => isCorednsReady(running.readyPort, signal));
  const rightSeconds = await untilRight(start, running.startedAtSeconds, presentNames(point.cluster));
  await untilRead(start, {});
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
    await untilRead(start, isReadAgain ? reads : {});
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
    return { begin, names: await announcedNames(start.running.api, 0), isReadAgain: true };
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
  const names = await announcedNames(running.api, outageSeconds / 2);
  const { reads } = await running.api.status();
  await running.api.outage(outageSeconds);
  const begin = world.clock.monotonicSeconds() + outageSeconds;
  const { done, counts } = await whileAsked(start, Math.ceil(outageSeconds), async () => {
    await world.clock.sleep(outageSeconds, signal);
    return inTime(start, 'API server outage', async () => {
      await newPeak(start);
      const rightSeconds = await untilRight(start, begin, names);
      await untilRead(start, reads);
      return rightSeconds;
    });
  });
  // Nothing comes after it: what is late would not be seen.
  await inTime(start, 'API server outage', () => untilQuiet({ ...start, pace: PACE }));
  await newPeak(start);
  return { name: 'API server outage', rightSeconds: done, queries: counts };
}

/** Resources that were read and never listed. */
async function streamedIn({ running }: Running): Promise<string[]> {
  const { reads, lists } = await running.api.status();
  return Object.keys(reads).filter((name) => (lists[name] ?? 0) === 0);
}

/** Deploys, and waits until everything is read. */
async function started(context: Timed, executable: string, scenarios: ScenarioResult[]): Promise<Running> {
  const { world, signal } = context;
  const deployed = await context.deploy(executable, signal);
  signal.throwIfAborted();
  const { instance, running } = deployed;
  const client = createDnsClient({ address: instance.address, port: instance.port }, 'udp', world.clock);
  signal.addEventListener('abort', () => client.close());
  const start: Running = { ...context, deployed, client, running, pace: QUICK_PACE, peaks: [] };
  scenarios.push(await Promise.race([coldStart(start), running.died]));
  return start;
}

/** What a start has to survive after its cold start, except the outage. */
async function readAgain(start: Running, scenarios: ScenarioResult[]): Promise<void> {
  const { deployed, signal } = start;
  start.onPhase('relist');
  const entries = await inTime(start, 'full cache', () =>
    fillCache({
      ...start,
      load: (file, seconds) => start.load(deployed, { file, seconds, isPaced: false, signal }),
    }),
  );
  // All loads were not enough: it would be relisted with less in memory than others.
  if (!isFull(start.point.configuration, entries)) throw new Stuck();
  scenarios.push(await inTime(start, 'relist', () => relist(start)));
  scenarios.push(await inTime(start, 'replaced endpoints', () => replaced(start)));
}

/** All of it, in order; what is survived is added to `scenarios`. Before another start begins, `close` has ended one that failed. */
async function endure(
  context: Timed,
  close: () => Promise<void>,
  scenarios: ScenarioResult[],
): Promise<Pick<Start, 'streamed'> & { peakBytes: number }> {
  const { world, alone } = context;
  const orClosed = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      await close();
      throw error;
    }
  };
  const active = async () => {
    context.onPhase('cold start');
    const executable = await context.prepare();
    const start = await inTime(context, 'cold start', () => started(context, executable, scenarios));
    await Promise.race([readAgain(start, scenarios), start.running.died]);
    return start;
  };
  const start = await alone(() => orClosed(active()));
  const away = () => orClosed(Promise.race([outage(start), start.running.died]));
  // Everything is read again when it ends.
  scenarios.push(await aloneAfter(context.outageSeconds, { ...context, clock: world.clock }, away));
  return { peakBytes: Math.max(...start.peaks), streamed: await streamedIn(start) };
}

/**
 * Starts CoreDNS under the limit of its group and says how it ended. Rejects for what is no matter of memory: the trial
 * fails then.
 */
export async function startUnder(context: StartContext): Promise<Start> {
  const { limitBytes, group, signal } = context;
  const scenarios: ScenarioResult[] = [];
  const steps: Timed['steps'] = {};
  const ended = new AbortController();
  let during: Scenario = 'cold start';
  let deploying: Promise<DeployedCoredns> | undefined;
  let api: DeployedCoredns['running']['api'] | undefined;
  let rereadBefore: number | null = null;
  const close = async () => {
    ended.abort();
    const deployed = await deploying?.catch(() => undefined);
    await deployed?.deployment.remove();
  };
  const failed = (outcome: 'killed' | 'stuck'): Start => ({
    result: { limitBytes, outcome, peakBytes: null, scenarios, during },
    ...{ streamed: [], steps },
  });
  try {
    const { peakBytes, streamed } = await endure(
      {
        ...context,
        steps,
        signal: AbortSignal.any([signal, ended.signal]),
        api: () => api,
        prepare: async () => {
          const executable = await context.prepare();
          rereadBefore = await group.rereads();
          return executable;
        },
        deploy: async (executable, until) => {
          deploying = context.deploy(executable, until);
          api = (await deploying).running.api;
          return deploying;
        },
        onPhase: (scenario) => {
          during = scenario;
          context.onPhase(scenario);
        },
      },
      close,
      scenarios,
    );
    // A kill of the last moment.
    if ((await group.kills()) > 0) return failed('killed');
    return {
      result: { limitBytes, outcome: 'survived', peakBytes, scenarios, during: null },
      ...{ streamed, steps },
    };
  } catch (error) {
    signal.throwIfAborted();
    // The kernel counts it before the process is gone.
    if ((await group.kills()) > 0) return failed('killed');
    if (!(error instanceof Stuck || error instanceof LateError)) throw error;
    // For want of memory, pages of its program are dropped and read again. With GOMEMLIMIT, collecting may take all its time.
    const reread = ((await group.rereads()) ?? 0) - (rereadBefore ?? 0);
    const isOther = rereadBefore !== null && reread < PROGRAM_PAGES;
    if (!isOther || !isPeakOwn(context.point)) return failed('stuck');
    throw new BenchError('E_NO_ANSWER', `${during}: CoreDNS took too long, but not for want of memory`, {
      fix: 'Repeat the run with less other work on this machine.',
      cause: error,
    });
  } finally {
    await close();
  }
}
