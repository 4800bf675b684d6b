/**
 * Whether CoreDNS needs as much memory with our API server as with a real one: the same unmodified CoreDNS reads the same
 * objects from both, in turns, and the ratios of these pairs have 95 % intervals. Four starts of each are the fewest that
 * have one. Needs KUBECONFIG of an administrator of some cluster, on which it creates the objects, and
 * CoreDNS (`bench doctor --fix`): `node --conditions @dinodns-bench/source scripts/validate-api-server.ts [SERVICES PODS STARTS]`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import type { PhaseFigures } from '../src/experiments/capacity/beside/phases.ts';
import { openSyntheticRun } from '../src/experiments/capacity/cluster/synthetic-run.ts';
import { type ApiSource, startLocally } from '../src/experiments/capacity/verify/start-locally.ts';
import { newRunId } from '../src/results/run-id.ts';
import { corednsProgram } from '../src/servers/coredns/program.ts';
import { median } from '../src/stats/intervals.ts';
import { comparePairs } from '../src/stats/summarize.ts';
import { openClient } from '../src/targets/kubernetes/open-cluster.ts';
import { realWorld } from '../src/world.ts';

const [services = 500, pods = 9500, starts = 3] = process.argv.slice(2).map(Number);
const world = realWorld();
const signal = new AbortController().signal;
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
  return { url: server.server, tokenFile, caFile };
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
  ...{ size: { services, pods }, withPods: false },
});
const { cluster } = run;
/** Ours streams lists if the real one does: what is read as a list has another peak than what is streamed. */
async function streamsLists(): Promise<boolean> {
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const path = `/api/v1/namespaces?${query}&timeoutSeconds=1`;
  return !(await client.text(path, 'watch namespaces', signal)).includes('"type":"ERROR"');
}

type Name = 'real' | 'ours';
const seen: Record<Name, PhaseFigures[]> = { real: [], ours: [] };

/** What is compared, at the end of which phase. Under queries, Go has collected its garbage several times. */
const COMPARED = [
  ['at rest, resident', 'rest', ({ rssBytes }) => rssBytes],
  ['at rest, anonymous', 'rest', ({ medianBytes }) => medianBytes],
  ['under queries, resident', 'load', ({ rssBytes }) => rssBytes],
  ['under queries, anonymous', 'load', ({ medianBytes }) => medianBytes],
  ['under queries, when Go collects next', 'load', ({ nextCollectionBytes }) => nextCollectionBytes],
  ['read again, peak', 'relist', ({ peakBytes }) => peakBytes],
] as const satisfies [string, PhaseFigures['phase'], (figures: PhaseFigures) => number | null][];

const percent = (ratio: number | null) => (ratio === null ? '?' : `${(100 * ratio).toFixed(1)} %`);

/** `+2.1 % [0.3 %, 4.0 %]`, ours against the real one. */
function ratioText(phase: PhaseFigures['phase'], of: (figures: PhaseFigures) => number | null): string {
  const [real = [], ours = []] = (['real', 'ours'] as const).map((name) =>
    seen[name].flatMap((figures) => (figures.phase === phase ? (of(figures) ?? []) : [])),
  );
  const pairs = ours.map((value, index) => ({ value, baseline: real[index] ?? Number.NaN }));
  const delta = comparePairs(pairs);
  if (delta === null) return 'not known';
  const medians = [real, ours].map((values) => (median(values) / 1e6).toFixed(1)).join(' → ');
  return `${medians} MB, ${percent(delta.relative)} [${percent(delta.low)}, ${percent(delta.high)}]`;
}

try {
  const real = await apiOf(directory);
  const streamedLists = await streamsLists();
  console.log(`lists are ${streamedLists ? '' : 'not '}streamed`);
  const sources = [
    ['real', { api: real }],
    ['ours', { streamedLists }],
  ] as const;
  for (let start = 1; start <= starts; start += 1) {
    // Every second pair the other way round, so that a drift of the machine meets both alike.
    for (const [name, api] of start % 2 === 1 ? sources : sources.toReversed()) {
      const { phases, death } = await startLocally({
        world,
        coredns: executable,
        cluster,
        ...api,
        corefile: {},
        phases: ['cold-start', 'rest', 'load', 'relist'],
        seconds: 6,
        queriesPerSecond: 1000,
        memoryLimitBytes: null,
        signal,
      });
      if (death !== null) throw new Error(death);
      seen[name].push(...phases);
      const megabytes = (bytes: number | null) => ((bytes ?? 0) / 1e6).toFixed(1);
      const figures = phases.map(
        ({ phase, medianBytes, peakBytes, rssBytes }) =>
          `${phase}: anonymous ${megabytes(medianBytes)}, peak ${megabytes(peakBytes)}, resident ${megabytes(rssBytes)}`,
      );
      console.log(`${name} ${start}  ${figures.join('; ')}`);
    }
  }
  console.log('medians real → ours, and ours against real with the 95 % interval of the pairs:');
  for (const [title, phase, of] of COMPARED) console.log(`  ${title}: ${ratioText(phase, of)}`);
} finally {
  await run[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}
