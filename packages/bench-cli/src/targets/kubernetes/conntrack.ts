/** Where the connection tracking of nodes sends the clients of a Service: also to pods that are gone, until kube-proxy has removed that. */
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { BenchError } from '../../errors.ts';
import { parseLine } from '../../process.ts';
import { sum } from '../../stats/intervals.ts';
import type { ClusterRun } from './cluster-run.ts';
import type { EndpointReading } from './endpoints.ts';
import { runOnce } from './run-job.ts';

const countsSchema = z.object({ entries: z.number(), used: z.number() });
const lineSchema = z.union([
  z.object({ fromSeconds: z.number(), atSeconds: z.number(), pods: z.record(z.string(), countsSchema) }),
  z.object({ error: z.string() }),
]);

/** Of one node, and of the second before or, where it was busy, of longer. */
export interface ConntrackReading {
  /** When that began and ended, by the clock of this machine. */
  readonly fromSeconds: number;
  readonly atSeconds: number;
  /** By the address of the pod: entries that lead to it, and those of them that a packet used. */
  readonly pods: Readonly<Record<string, z.output<typeof countsSchema>>>;
}

/** What it takes at most until a reading is heard of, or a change of the endpoints. */
const HEARD_SECONDS = 0.2;

const most = (counts: readonly number[]) => Math.max(0, ...counts);

/**
 * `used`: the most that packets used in a second, of one node, to any pod. `stale`: the same to pods that were not ready endpoints all
 * that second; `lastSeconds` until the last of those, null if there were none.
 * @param fromSeconds When the fault began; nothing is stale before it, nor before the endpoints are known.
 */
export function staleEntries(
  readings: readonly ConntrackReading[],
  endpoints: readonly EndpointReading[],
  fromSeconds: number,
) {
  const wasReady = (address: string, { fromSeconds: begin, atSeconds }: ConntrackReading) =>
    endpoints.some(
      (each, index) =>
        each.ready.has(address) &&
        each.atSeconds <= atSeconds &&
        (endpoints[index + 1]?.atSeconds ?? Number.POSITIVE_INFINITY) > begin - HEARD_SECONDS,
    );
  const usedIn = (reading: ConntrackReading, isCounted: (address: string) => boolean) =>
    sum(Object.entries(reading.pods).map(([address, { used }]) => (isCounted(address) ? used : 0)));
  const countedFrom = Math.max(fromSeconds, endpoints[0]?.atSeconds ?? Number.POSITIVE_INFINITY);
  const stale = readings
    .filter(({ atSeconds }) => atSeconds >= countedFrom)
    .map((reading) => ({
      used: usedIn(reading, (address) => !wasReady(address, reading)),
      sinceSeconds: reading.atSeconds - fromSeconds,
    }));
  return {
    used: most(readings.map((reading) => usedIn(reading, () => true))),
    stale: most(stale.map(({ used }) => used)),
    lastSeconds: stale.findLast(({ used }) => used > 0)?.sinceSeconds ?? null,
  };
}

const PROGRAM = new URL('./conntrack-program.mjs', import.meta.url);

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'its kernel has no /proc/net/nf_conntrack',
  EACCES: 'its container runtime does not let root read /proc/net/nf_conntrack',
};

function unreadable(node: string, error: string): BenchError {
  return new BenchError(
    'E_CONFIG',
    `the connection tracking of node ${node} cannot be read: ${WHY[error] ?? error}`,
    { fix: 'Omit --conntrack, or send from another node with --loader-node.' },
  );
}

export interface ConntrackWatch extends AsyncDisposable {
  /** So far. */
  readings(): readonly ConntrackReading[];
  /** Why a reader did not start, or ended by itself: what it would have said is not known. */
  lost(): readonly unknown[];
}

/** As `staleEntries`; null where a reader is lost, of which `warn` is told. */
export function entriesRead(
  { readings, lost }: ConntrackWatch,
  endpoints: readonly EndpointReading[],
  fromSeconds: number,
  warn: (text: string) => void,
): ReturnType<typeof staleEntries> | null {
  if (lost().length === 0) return staleEntries(readings(), endpoints, fromSeconds);
  for (const reason of lost()) warn(messageOf(reason));
  return null;
}

interface WatchRequest {
  /** Of the Service. */
  readonly address: string;
  readonly node: string;
  readonly runSeconds: number;
  readonly signal: AbortSignal;
}

/** Resolves after the first reading, or when it is lost. */
async function watchNode(
  run: ClusterRun,
  { address, node, runSeconds, signal: outer }: WatchRequest,
): Promise<ConntrackWatch> {
  const { clock } = run.world;
  const over = new AbortController();
  const lines: (ConntrackReading & { readonly heardAt: number })[] = [];
  const lost: unknown[] = [];
  const heard = Promise.withResolvers<void>();
  const fail = (reason: unknown) => {
    if (!over.signal.aborted && lost.length === 0) lost.push(reason);
    heard.resolve();
  };
  const running = runOnce(run, {
    ...{ name: 'conntrack', label: 'inspector', image: run.images.checker, node, inNodeNetwork: true },
    ...{ what: `the reader of the connection tracking of ${node}`, runSeconds },
    ...{ program: PROGRAM, env: { SERVICE: address } },
    signal: AbortSignal.any([outer, over.signal]),
    onLine(line) {
      const parsed = parseLine(lineSchema, line);
      if (parsed === null) return;
      if ('error' in parsed) return fail(unreadable(node, parsed.error));
      lines.push({ ...parsed, heardAt: clock.monotonicSeconds() });
      heard.resolve();
    },
  }).then(() => fail(new Error(`the reader of the connection tracking of ${node} has ended`)), fail);
  await heard.promise;
  return {
    readings() {
      // By the clock of the node; what is heard of it is heard later, at the earliest at once.
      const offset = Math.min(...lines.map(({ atSeconds, heardAt }) => heardAt - atSeconds));
      return lines.map(({ fromSeconds, atSeconds, pods }) => ({
        ...{ fromSeconds: fromSeconds + offset, atSeconds: atSeconds + offset, pods },
      }));
    },
    lost: () => lost,
    async [Symbol.asyncDispose]() {
      over.abort(new Error('the load is over'));
      await running;
    },
  };
}

/** How long a reader may take to say whether it can read. */
const TRY_SECONDS = 60;

/** Each takes a pod. */
const MAX_NODES = 4;

/** @throws BenchError `E_CONFIG` for more nodes than are read at once */
export function nodesToRead({ loaderNodes }: Pick<ClusterRun, 'loaderNodes'>): readonly string[] {
  if (loaderNodes.length <= MAX_NODES) return loaderNodes;
  throw new BenchError(
    'E_CONFIG',
    `--conntrack reads at most ${MAX_NODES} nodes, and the load may come from ${loaderNodes.length}`,
    { fix: 'Choose the node that sends with --loader-node.' },
  );
}

/** On all nodes that may send. Resolves when each was heard or is lost. @throws as `nodesToRead` */
export async function watchConntrack(
  run: ClusterRun,
  request: Omit<WatchRequest, 'node'>,
): Promise<ConntrackWatch> {
  const watches = await Promise.all(nodesToRead(run).map((node) => watchNode(run, { ...request, node })));
  return {
    readings: () =>
      watches.flatMap(({ readings }) => readings()).toSorted((a, b) => a.atSeconds - b.atSeconds),
    lost: () => watches.flatMap(({ lost }) => lost()),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()))),
  };
}

/** @throws BenchError `E_CONFIG` where it cannot be read, and as `nodesToRead` and `runOnce` */
export async function demandConntrack(run: ClusterRun, address: string, signal: AbortSignal): Promise<void> {
  await using watch = await watchConntrack(run, { address, runSeconds: TRY_SECONDS, signal });
  const [reason] = watch.lost();
  if (reason !== undefined) throw reason;
}
