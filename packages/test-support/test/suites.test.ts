/** Which suite a test file belongs to. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONGEST } from '../src/longest-first.ts';
import { KINDS, kindOf, patternsOf, projectName, type TestFileKind } from '../src/suites.ts';
import { filesTogether, sharesProcess } from '../src/together.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

async function testFiles(): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob('{packages/*,examples/*,fuzz}/test/**/*.test.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  })) {
    files.push(relative('.', file));
  }
  return files;
}

/** The projects that would run the file. */
function projectsFor(file: string): TestFileKind[] {
  return KINDS.filter((kind) => {
    const { include, exclude } = patternsOf(kind);
    return (
      include.some((pattern) => matchesGlob(file, pattern)) &&
      !exclude.some((pattern) => matchesGlob(file, pattern))
    );
  });
}

describe('the name of a test file', () => {
  it.each([
    ['names.test.ts', 'workspace'],
    ['names.timing.test.ts', 'workspace timing'],
    ['names.servers.test.ts', 'servers'],
    ['names.servers.timing.test.ts', 'servers timing'],
    ['ferret.conformance.test.ts', 'conformance'],
    ['page.browser.test.ts', 'browser'],
    ['archive.packages.test.ts', 'packages'],
    ['rights.k8s.test.ts', 'k8s'],
    ['disrupt.k8s.timing.test.ts', 'k8s timing'],
    ['cluster-wide.alone.k8s.test.ts', 'alone.k8s'],
    ['placement.nodes.k8s.test.ts', 'nodes.k8s'],
  ])('%s says that it is of %s', (name, project) => {
    const kind = kindOf(`packages/zones/test/deep/${name}`);
    expect(kind === null ? null : projectName(kind)).toBe(project);
    expect(projectsFor(`packages/zones/test/deep/${name}`)).toEqual([kind]);
  });

  it.each(['names.server.test.ts', 'names.timing.servers.test.ts', 'names.ts'])(
    '%s follows no rule',
    (name) => {
      expect(kindOf(name)).toBeNull();
    },
  );

  it('follows the rule for every file, and one project runs it', async () => {
    const files = await testFiles();
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) expect(projectsFor(file), file).toEqual([kindOf(file)]);
  });
});

describe('test files in one process', () => {
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'together-')), 'test');
  });
  afterEach(() => rmSync(dirname(directory), { recursive: true }));

  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };

  it.each([
    ['only computes', "import { expect } from 'vitest';", true],
    ['starts programs', "import { spawn } from 'node:child_process';", true],
    ['reads the environment', 'const home = process.env.HOME;', true],
    ['imports what is called process.ts', "import type { Running } from '../src/process.ts';", true],
    ['changes the environment', "process.env.HOME = '/';", false],
    ['takes from the environment', 'delete process.env.HOME;', false],
    ['adds to the environment', 'Object.assign(process.env, { HOME });', false],
    ['measures its process', 'const { rss } = process.memoryUsage();', false],
    ['handles signals', "process.on('SIGTERM', stop);", false],
    ['asks over UDP', "import { createSocket } from 'node:dgram';", false],
    ['teaches bench an experiment', "await bench('--experiment', file)", false],
    ['counts its descriptors', "readdirSync('/proc/self/fd')", false],
    ['has a clock of its own', 'vi.useFakeTimers();', false],
    ['waits', 'await vi.waitFor(() => done);', true],
    ['imports what has threads', "import { start } from './support/threads.ts';", false],
    ['imports what has threads for its effects', "import './support/threads.ts';", false],
    ['imports what has threads when it runs', "const all = await import('./support/threads.ts');", false],
    ['imports what computes, and itself', "import { sum } from './support/pure.ts';", true],
  ])('%s: %s, %s', (_what, text, shares) => {
    mkdirSync(join(directory, 'support'), { recursive: true });
    write('support/threads.ts', "import { Worker } from 'node:worker_threads';");
    write('support/pure.ts', "import { one } from '../one.test.ts';");
    expect(sharesProcess(write('one.test.ts', text))).toBe(shares);
  });

  it('know what one uses that is reached by way of a file that imports them', () => {
    const known: Parameters<typeof sharesProcess>[1] = new Map();
    mkdirSync(directory);
    const b = write('b.test.ts', "import { one } from './a.test.ts';");
    write('c.ts', 'process.exitCode = 1;');
    const a = write('a.test.ts', "import { two } from './b.test.ts';\nimport { three } from './c.ts';");
    expect([a, b].map((path) => sharesProcess(path, known))).toEqual([false, false]);
  });

  it('are many, and none that runs alone or elsewhere', () => {
    const [kind] = KINDS;
    if (kind === undefined) throw new Error('no kinds');
    const files = filesTogether(ROOT, patternsOf(kind));
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) expect(projectsFor(file)).toEqual([kind]);
  });
});

it('the files that begin first are there', async () => {
  const names = (await testFiles()).map((file) => basename(file));
  expect(names).toEqual(expect.arrayContaining([...LONGEST]));
});

it('every suite has a command, and CONTRIBUTING names it', async () => {
  const { scripts } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  const guide = await readFile(new URL('../../../CONTRIBUTING.md', import.meta.url), 'utf8');
  for (const name of ['all', ...new Set(KINDS.map(({ suite }) => suite))]) {
    const script = name === 'workspace' ? 'test' : `test:${name}`;
    // Behind its own suite a command may run parts of others.
    expect(`${scripts[script]} `.startsWith(`node packages/test-support/src/run.ts ${name} `), script).toBe(
      true,
    );
    expect(guide.includes(`\`pnpm ${script}\``), script).toBe(true);
  }
});
