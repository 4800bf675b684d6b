/** The programs of the pods, from the sources of bench, as a ConfigMap. */
import { extname } from 'node:path';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { unitLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../../../targets/kubernetes/objects/pods.ts';
import { programFile, programName, uploadFiles } from '../../../targets/kubernetes/programs.ts';
import { BUILTIN_PROGRAM } from '../sampling/sampler.ts';

/** Run from their sources; in a package from npm they are compiled. */
const EXTENSION = extname(import.meta.url);

const CAPTURE = ['capture-program', 'counters', 'duplicates', 'filter', 'pod-signals', 'searches'];

const PROGRAMS = [
  ...CAPTURE.map((name) => new URL(`../capture/${name}${EXTENSION}`, import.meta.url)),
  new URL('../lab/site-program.mjs', import.meta.url),
  BUILTIN_PROGRAM,
];

/** Names of the programs in the pods. */
export const BUILTIN_CLIENT = programName(BUILTIN_PROGRAM);

export const CAPTURE_PROGRAM = `capture-program${EXTENSION}`;

/** Creates the ConfigMap `programs` in the run's namespace. */
export function uploadForPods(run: ClusterRun, signal: AbortSignal): Promise<ConfigMapMount> {
  const labels = unitLabels(run.runId, 'sampler', 'programs');
  const upload = {
    name: 'programs',
    labels,
    what: 'the programs of the pods',
    files: PROGRAMS.map(programFile),
  };
  return uploadFiles(run, upload, signal);
}
