/** The programs of the pods, from the sources of bench, as a ConfigMap. */
import { basename, extname } from 'node:path';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { configMapOf } from '../../../targets/kubernetes/objects/config-map.ts';
import { unitLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../../../targets/kubernetes/objects/pods.ts';
import { BUILTIN_PROGRAM } from '../sampling/sampler.ts';

/** Run from their sources; in a package from npm they are compiled. */
const EXTENSION = extname(import.meta.url);

const CAPTURE = ['capture-program', 'counters', 'duplicates', 'filter', 'pod-signals', 'searches'];

const FILES = [
  ...CAPTURE.map((name) => new URL(`../capture/${name}${EXTENSION}`, import.meta.url)),
  new URL('../lab/site-program.mjs', import.meta.url),
  BUILTIN_PROGRAM,
];

const nameOf = ({ pathname }: URL) => basename(pathname);

/** Names of the programs in the pods. */
export const BUILTIN_CLIENT = nameOf(BUILTIN_PROGRAM);

export const CAPTURE_PROGRAM = `capture-program${EXTENSION}`;

/** Creates the ConfigMap `programs` in the run's namespace. */
export async function uploadPrograms(
  { world, client, namespace, runId }: ClusterRun,
  signal: AbortSignal,
): Promise<ConfigMapMount> {
  const metadata = { name: 'programs', namespace, labels: unitLabels(runId, 'sampler', 'programs') };
  const files = FILES.map(async (url) => {
    const text = await world.fs.readFile(url, 'utf8');
    return { path: nameOf(url), chunks: [text] };
  });
  const { object, mount } = configMapOf(metadata, 'the programs of the pods', await Promise.all(files));
  await client.create('ConfigMap', object, signal);
  return mount;
}
