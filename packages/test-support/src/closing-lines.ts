/** The last lines of a run: what was skipped, why, and the command that installs what is missing. */
import type { LeftOutTests } from './reporter.ts';
import type { Suite } from './suites.ts';

export const FIX_COMMAND = 'pnpm bench doctor --fix --for tests';

export interface OtherSuite {
  readonly suite: Suite;
  /** Programs missing on this machine. */
  readonly problems: readonly string[];
}

const NEEDS: Readonly<Record<Suite, string>> = {
  workspace: 'nothing but the workspace',
  servers: 'DNS servers and tools',
  conformance: 'third-party test data',
  browser: 'Chromium',
  packages: 'the npm registry',
  k8s: 'a Kubernetes cluster',
  'alone.k8s': 'a Kubernetes cluster for itself',
  'nodes.k8s': 'a Kubernetes cluster of two nodes',
};

const plural = (count: number) => `${count} ${count === 1 ? 'test' : 'tests'}`;

function leftOutLines(leftOut: readonly LeftOutTests[]): string[] {
  if (leftOut.length === 0) return [];
  const total = leftOut.reduce((sum, { count }) => sum + count, 0);
  return [
    `Left out: ${plural(total)}.`,
    ...leftOut.map(
      ({ file, count, reasons }) =>
        `  ${file}: ${plural(count)} (${reasons.length === 0 ? 'skipped in the file' : reasons.join(', ')})`,
    ),
  ];
}

function otherSuiteLines(others: readonly OtherSuite[]): string[] {
  if (others.length === 0) return [];
  return [
    'Other suites, not run:',
    ...others.map(({ suite, problems }) => {
      const lacking = problems.length === 0 ? '' : `; here, ${problems.join(', ')}`;
      const command = suite === 'workspace' ? 'pnpm test' : `pnpm test:${suite}`;
      return `  ${command.padEnd(18)} needs ${NEEDS[suite]}${lacking}`;
    }),
  ];
}

/** Empty if nothing was left out and every suite ran. */
export function closingLines(leftOut: readonly LeftOutTests[], others: readonly OtherSuite[]): string[] {
  const problems = [
    ...leftOut.flatMap(({ reasons }) => reasons),
    ...others.flatMap((other) => other.problems),
  ];
  const isMissing = problems.some((problem) => problem.endsWith('is missing'));
  return [
    ...leftOutLines(leftOut),
    ...otherSuiteLines(others),
    ...(isMissing ? [`To get what is missing: ${FIX_COMMAND}`] : []),
  ];
}
