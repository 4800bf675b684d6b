/**
 * Suites by what their tests need. The name of a file says where it belongs:
 *
 * | name                     | needs                                              | command             |
 * |--------------------------|----------------------------------------------------|---------------------|
 * | `*.test.ts`              | the workspace only                                 | `pnpm test`         |
 * | `*.servers.test.ts`      | DNS servers and tools, a C compiler, root          | `pnpm test:servers` |
 * | `*.conformance.test.ts`  | third-party data, which is not in the repository   | `pnpm test:conformance` |
 * | `*.browser.test.ts`      | Chromium                                           | `pnpm test:browser` |
 * | `*.packages.test.ts`     | the npm registry: packs, installs, compiles        | `pnpm test:packages`|
 * | `*.k8s.test.ts`          | a Kubernetes cluster                               | `pnpm test:k8s`     |
 * | `*.alone.k8s.test.ts`    | that cluster for itself: it changes what all share | `pnpm test:k8s` too |
 * | `*.nodes.k8s.test.ts`    | a cluster of two nodes whose processes it may stop | `pnpm test:nodes.k8s` |
 *
 * `.timing` before `.test.ts` (`*.timing.test.ts`, `*.servers.timing.test.ts`) marks a file that depends on time or
 * load, or takes a node from all others: such files run one at a time, after all others.
 */
import { basename } from 'node:path';

export const SUITES = [
  'workspace',
  'servers',
  'conformance',
  'browser',
  'packages',
  'k8s',
  'alone.k8s',
  'nodes.k8s',
] as const;
export type Suite = (typeof SUITES)[number];

export interface TestFileKind {
  readonly suite: Suite;
  /** Runs alone, after everything else. */
  readonly timing: boolean;
}

/** The kind of a test file, by its name; null for a name that follows no rule. */
export function kindOf(path: string): TestFileKind | null {
  const match =
    /^[^.]+(?:\.(servers|conformance|browser|packages|(?:(?:alone|nodes)\.)?k8s))?(\.timing)?\.test\.ts$/.exec(
      basename(path),
    );
  if (match === null) return null;
  return { suite: SUITES.find((suite) => suite === match[1]) ?? 'workspace', timing: match[2] !== undefined };
}

/** The project of those files of `pnpm test` that run in one process (`together.ts`). */
export const TOGETHER = 'workspace together';

/** The names of the vitest projects that run files of this kind. */
export function projectNames(kind: TestFileKind): string[] {
  return kind.suite === 'workspace' && !kind.timing ? [projectName(kind), TOGETHER] : [projectName(kind)];
}

/** The name of the vitest project that runs files of this kind, each in a process of its own. */
export function projectName({ suite, timing }: TestFileKind): string {
  return timing ? `${suite} timing` : suite;
}

/** The patterns of the files of a kind, for vitest. */
export function patternsOf({ suite, timing }: TestFileKind): { include: string[]; exclude: string[] } {
  const suffix = `${suite === 'workspace' ? '' : `.${suite}`}${timing ? '.timing' : ''}.test.ts`;
  const others = SUITES.filter((other) =>
    suite === 'workspace' ? other !== suite : other.endsWith(`.${suite}`),
  ).map((other) => `.${other}`);
  const exclude = [...others.flatMap((other) => [`${other}.test.ts`, `${other}.timing.test.ts`])];
  if (!timing) exclude.push('.timing.test.ts');
  return {
    include: [`packages/*/test/**/*${suffix}`, `fuzz/test/**/*${suffix}`, `examples/*/test/**/*${suffix}`],
    exclude: ['**/node_modules/**', ...exclude.map((end) => `**/*${end}`)],
  };
}

/** Every kind of file, in the order in which they run. */
export const KINDS: readonly TestFileKind[] = [false, true].flatMap((timing) =>
  SUITES.map((suite) => ({ suite, timing })),
);

/** What `pnpm test:all` runs: everything that needs no cluster. */
export const ALL_SUITES: readonly Suite[] = ['workspace', 'servers', 'conformance', 'browser', 'packages'];
