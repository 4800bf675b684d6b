/**
 * The order of test files that run side by side. A long file that begins last runs alone at the end, while the other
 * workers have nothing to do; so the longest begin first. Vitest itself goes by the size of files where it remembers
 * no durations, as in a fresh clone.
 */
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than 30 seconds, in CI on two CPUs, the longest first. All others follow as vitest orders them. */
export const LONGEST: readonly string[] = [
  'swap-faults.k8s.test.ts',
  'faults.k8s.test.ts',
  'matrix.k8s.test.ts',
  'capacity-caching.k8s.test.ts',
  'swap-operators.k8s.test.ts',
  'lookup.k8s.test.ts',
  'duet.k8s.test.ts',
  'swap-shadow.k8s.test.ts',
  'lookup-calico.k8s.test.ts',
  'swap-record.k8s.test.ts',
  'floor.k8s.test.ts',
  'swap.nodes.k8s.test.ts',
  'placement.nodes.k8s.test.ts',
  'redis.servers.test.ts',
  'capacity-survive.servers.test.ts',
  'paths.nodes.k8s.test.ts',
  'cli-run.servers.test.ts',
  'archives.packages.test.ts',
  'local-real-servers.servers.test.ts',
  'site.browser.test.ts',
  'dnssec.servers.test.ts',
  'compilezone.servers.test.ts',
  'encrypted.servers.test.ts',
  'capacity-memory.servers.test.ts',
  'capacity-cases.servers.test.ts',
  'action.servers.test.ts',
  'library.servers.test.ts',
  'coredns.servers.test.ts',
  'coredns-cluster.servers.test.ts',
  'reload.test.ts',
  'hostile.test.ts',
  'cluster.test.ts',
  'own-servers.test.ts',
  'cli-until.test.ts',
  'loader-builtin.test.ts',
  'run.test.ts',
  'sqlite.test.ts',
  'cli-report.test.ts',
  'bad-zones.test.ts',
  'capacity-survive-start.test.ts',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.indexOf(basename(moduleId));
  return rank === -1 ? LONGEST.length : rank;
};

const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}
