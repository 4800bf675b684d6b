import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './packages/test-support/src/longest-first.ts';
import {
  KINDS,
  patternsOf,
  projectName,
  projectNames,
  SUITES,
  type TestFileKind,
} from './packages/test-support/src/suites.ts';
import { filesTogether } from './packages/test-support/src/together.ts';

/**
 * Half of the time, tests wait instead of computing: for programs that start, for sockets, for time to pass. So two files for each CPU
 * keep them busy. Tests with DNS servers and on a cluster share more than CPUs: ports that others may take, memory, a node.
 */
const FILES_PER_CPU = 2;
const PARALLEL_FILES = 3;

/**
 * How often a failed test of a `.timing` file is repeated. A neighbour that takes the CPU for some milliseconds spoils
 * one measurement; a fault in what is measured spoils all three. The report marks every test that was repeated.
 */
const TIMING_RETRIES = 2;

/**
 * Projects of one group run together, as many files at a time as all of them allow; groups run one after the other. What needs a
 * cluster comes last.
 */
function groupOf({ suite, timing }: TestFileKind): number {
  const place = SUITES.indexOf(suite);
  if (suite.endsWith('k8s')) return SUITES.length + 2 * place + (timing ? 1 : 0);
  if (timing) return 2 + place;
  return suite === 'workspace' ? 0 : 1;
}

function parallelFiles({ suite, timing }: TestFileKind): number {
  if (timing || suite === 'alone.k8s') return 1;
  return suite === 'workspace' ? FILES_PER_CPU * availableParallelism() : PARALLEL_FILES;
}

function projectOf(kind: TestFileKind): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: projectName(kind),
      ...patternsOf(kind),
      provide: { suite: kind.suite },
      setupFiles: ['packages/test-support/src/setup.ts'],
      maxWorkers: parallelFiles(kind),
      // On a cluster, whole files are repeated: a test needs minutes.
      retry: kind.timing && !kind.suite.endsWith('k8s') ? TIMING_RETRIES : 0,
      sequence: { groupOrder: groupOf(kind) },
      ...(kind.suite.endsWith('k8s') ? K8S : {}),
    },
  };
}

/** Those of a kind: one, or two if some of its files run in one process. */
function projectsOf(kind: TestFileKind): TestProjectInlineConfiguration[] {
  const project = projectOf(kind);
  const [, name] = projectNames(kind);
  if (name === undefined) return [project];
  const { include, exclude } = patternsOf(kind);
  const together = filesTogether(import.meta.dirname, { include, exclude });
  return [
    { ...project, test: { ...project.test, exclude: [...exclude, ...together] } },
    { ...project, test: { ...project.test, name, include: together, exclude: [], isolate: false } },
  ];
}

/** A cluster takes its time; `pnpm test:k8s` needs KUBECONFIG, and the images of `bench images` where the nodes get them. */
const K8S: TestProjectInlineConfiguration['test'] = {
  globalSetup: ['packages/bench-cli/test/k8s/support/account.ts'],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 200 } },
};

/** The packages run from their sources, and so do the programs that tests start: see `nodeOptions` in pnpm-workspace.yaml. */
const CONDITION = '@dinodns-bench/source';

export default defineConfig({
  test: {
    env: { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --conditions=${CONDITION}` },
    execArgv: [`--conditions=${CONDITION}`],
    // Node.js reads TypeScript by itself, and keeps what it compiled; no test needs Vite to change a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Limits for what hangs, not for what is slow: a test of two seconds takes 30 on two CPUs where 25 programs want them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', 'packages/test-support/src/reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: KINDS.flatMap(projectsOf),
  },
});
