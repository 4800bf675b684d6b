/**
 * Whether CoreDNS needs as much memory with our API server as with a real one: the same unmodified CoreDNS reads the same
 * objects from both, in turns, as pages and, where the real one offers them, as streams. The ratios of these pairs have 95 %
 * intervals; four starts of each are the fewest that have one. Needs KUBECONFIG of an administrator of some cluster, on which
 * it creates the objects, and CoreDNS (`bench doctor --fix`):
 * `node --conditions @dinodns-bench/source scripts/validate-api-server.ts [SERVICES ENDPOINTS STARTS]`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import type { PhaseFigures } from '../src/experiments/capacity/beside/phases.ts';
import { openSyntheticRun } from '../src/experiments/capacity/cluster/synthetic-run.ts';
import { STREAMS_VARIABLE } from '../src/experiments/capacity/survive/settings.ts';
import { type LocalStartRequest, startLocally } from '../src/experiments/capacity/verify/start-locally.ts';
import { newRunId } from '../src/results/run-id.ts';
import { corednsProgram } from '../src/servers/coredns/program.ts';
import { median } from '../src/stats/intervals.ts';
import { comparePairs } from '../src/stats/summarize.ts';
import { openClient } from '../src/targets/kubernetes/open-cluster.ts';
import { realWorld } from '../src/world.ts';

const [services = 500, endpoints = 9500, starts = 4] = process.argv.slice(2).map(Number);
const world = realWorld();
const signal = new AbortController().signal;
type ApiSource = NonNullable<LocalStartRequest['api']>;
const runId = newRunId(world.clock.now());

/** The address of the cluster, and a token of the account that may read it. */
async function apiOf(directory: string): Promise<ApiSource> {
  const config = new KubeConfig();
  config.loadFromDefault();
  const server = config.getCurrentCluster();
  if (server === null) throw new Error('the kubeconfig has no current cluster');
  const { status } = await config.makeApiClient(CoreV1Api).createNamespacedServiceAccountToken({
    namespace: run.namespace,
    name: 'dns',
    body: { spec: { audiences: [], expirationSeconds: 7200 } },
  });
  const tokenFile = join(directory, 'token');
  const caFile = join(directory, 'ca.crt');
  await writeFile(tokenFile, status?.token ?? '', { mode: 0o600 });
  await writeFile(caFile, Buffer.from(server.caData ?? '', 'base64'));
  return { API_SERVER: server.server, TOKEN_FILE: tokenFile, CA_FILE: caFile };
}

const { executable } = await corednsProgram.provide(world, {
  version: null,
  allowed: false,
  progress: { step: (text) => console.error(text), detail: (text) => console.error(text) },
  signal,
});
const client = await openClient(world, undefined);
const directory = await mkdtemp(join(tmpdir(), 'validate-'));
const run = await openSyntheticRun({
  ...{ world, client, runId, signal, settings: kubernetesOf({}) },
  ...{ size: { services, pods: endpoints, endpoints }, withPods: false },
});
const { cluster } = run;

/** An API server offers streamed lists or not, as its etcd is new enough. */
async function offersStreams(): Promise<boolean> {
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const path = `/api/v1/namespaces?${query}&timeoutSeconds=1`;
  return !(await client.text(path, 'watch namespaces', signal)).includes('"type":"ERROR"');
}

/** What is compared, at the end of which phase. Under queries, Go has collected its garbage several times. */
const COMPARED = [
  ['at rest', 'rest', ({ medianBytes }) => medianBytes],
  ['under queries', 'load', ({ medianBytes }) => medianBytes],
  ['relist peak', 'relist', ({ peakBytes }) => peakBytes],
] as const satisfies [string, PhaseFigures['phase'], (figures: PhaseFigures) => number | null][];

const percent = (ratio: number | null) => (ratio === null ? '?' : `${(100 * ratio).toFixed(1)} %`);

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

type Seen = Record<'real' | 'ours', PhaseFigures[]>;

/** `| paged | at rest | 25.0 | 26.1 | +2.1 % [0.3 %, 4.0 %] |`, ours against the real one. */
function rowOf(lists: string, seen: Seen, [title, phase, of]: (typeof COMPARED)[number]): string {
  const valuesOf = (all: readonly PhaseFigures[]) =>
    all.flatMap((figures) => (figures.phase === phase ? (of(figures) ?? []) : []));
  const [real, ours] = [valuesOf(seen.real), valuesOf(seen.ours)];
  const delta = comparePairs(ours.map((value, at) => ({ value, baseline: real[at] ?? Number.NaN })));
  const ratio =
    delta === null ? '?' : `${percent(delta.relative)} [${percent(delta.low)}, ${percent(delta.high)}]`;
  return `| ${[lists, title, mebibytes(median(real)), mebibytes(median(ours)), ratio].join(' | ')} |`;
}

/** Starts with both, in turns. */
async function compare(real: ApiSource, streamedLists: boolean): Promise<Seen> {
  const seen: Seen = { real: [], ours: [] };
  const sources = [
    ['real', { api: real, corednsEnv: { [STREAMS_VARIABLE]: String(streamedLists) } }],
    ['ours', { streamedLists }],
  ] as const;
  for (let start = 1; start <= starts; start += 1) {
    // Every second pair the other way round, so that a drift of the machine meets both alike.
    for (const [name, source] of start % 2 === 1 ? sources : sources.toReversed()) {
      const { phases, death, streamed } = await startLocally({
        ...{ world, coredns: executable, cluster, corefile: {}, memoryLimitBytes: null, signal },
        ...{ phases: ['cold-start', 'rest', 'load', 'relist'], seconds: 5, queriesPerSecond: 1000 },
        ...source,
      });
      if (death !== null) throw new Error(death);
      if (streamed.length > 0 !== streamedLists) throw new Error(`${name}: read otherwise than wanted`);
      seen[name].push(...phases);
      const figures = phases.map(
        ({ phase, medianBytes, peakBytes }) =>
          `${phase}: ${mebibytes(medianBytes ?? 0)}, peak ${mebibytes(peakBytes)}`,
      );
      console.error(`${name} ${start}  ${figures.join('; ')}`);
    }
  }
  return seen;
}

try {
  const real = await apiOf(directory);
  const streams = await offersStreams();
  if (!streams) console.error('This API server offers no streamed lists: its etcd is too old for them.');
  console.log('| lists | anonymous memory, MiB | real | ours | ours against real |\n|---|---|--:|--:|--:|');
  for (const streamedLists of streams ? [false, true] : [false]) {
    const seen = await compare(real, streamedLists);
    for (const row of COMPARED) console.log(rowOf(streamedLists ? 'streamed' : 'paged', seen, row));
  }
} finally {
  await run[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}
