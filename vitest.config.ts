import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import {
  KINDS,
  patternsOf,
  projectName,
  SUITES,
  type TestFileKind,
} from './packages/test-support/src/suites.ts';

/** Waiting, not computing, is most of what tests do; more files at a time would lengthen each on two CPUs. */
const PARALLEL_FILES = 3;

/**
 * How often a failed test of a `.timing` file is repeated. A neighbour that takes the CPU for some milliseconds spoils
 * one measurement; a fault in what is measured spoils all three. The report marks every test that was repeated.
 */
const TIMING_RETRIES = 2;

function projectOf(kind: TestFileKind): TestProjectInlineConfiguration {
  // Files that depend on time or load come after all others, one at a time, and so does what needs a whole cluster.
  const alone = kind.timing || kind.suite === 'k8s';
  return {
    extends: true,
    test: {
      name: projectName(kind),
      ...patternsOf(kind),
      provide: { suite: kind.suite },
      setupFiles: ['packages/test-support/src/setup.ts'],
      maxWorkers: alone ? 1 : PARALLEL_FILES,
      retry: kind.timing ? TIMING_RETRIES : 0,
      sequence: { groupOrder: alone ? 1 + SUITES.indexOf(kind.suite) : 0 },
      ...(kind.suite === 'k8s' ? K8S : {}),
    },
  };
}

/** A cluster takes its time; `pnpm test:k8s` needs KUBECONFIG, and the images of `bench images` where the nodes get them. */
const K8S: TestProjectInlineConfiguration['test'] = {
  globalSetup: ['packages/bench-cli/test/k8s/support/account.ts'],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 90_000, interval: 200 } },
};

/** The packages run from their sources, and so do the programs that tests start: see `nodeOptions` in pnpm-workspace.yaml. */
const CONDITION = '@dinodns-bench/source';
// Behind them, Vite's own defaults.
const resolve = {
  conditions: [CONDITION, 'module', 'node', 'development|production'],
  externalConditions: [CONDITION, 'node', 'module-sync'],
};

export default defineConfig({
  // For the environment of the tests and for that of the global setup.
  plugins: [{ name: 'sources', configEnvironment: () => ({ resolve }) }],
  test: {
    env: { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --conditions=${CONDITION}` },
    execArgv: [`--conditions=${CONDITION}`],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The default of one second is short for what a loaded machine takes to end a process.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', 'packages/test-support/src/reporter.ts'],
    projects: KINDS.map(projectOf),
  },
});
