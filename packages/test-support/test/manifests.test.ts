/** What the manifests say, and what the guard before packing and the release refuse. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { problemsOf, SOURCE_CONDITION } from '../../../scripts/package-problems.ts';
import { inOrder, releaseProblems } from '../../../scripts/release-order.ts';
import { publishedPackages } from './support/packages.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const workspace = readJson('package.json');
const packages = publishedPackages();

describe.each(packages)('the manifest of $name', ({ directory, manifest }) => {
  const folder = directory.slice(ROOT.length);

  test('says where the package comes from, as the workspace says it', () => {
    expect(manifest.repository).toEqual({ ...workspace.repository, directory: folder });
    expect(manifest.bugs).toBe(workspace.bugs);
    const home = workspace.homepage.replace('#readme', '');
    expect(manifest.homepage).toBe(`${home}/tree/main/${folder}#readme`);
    for (const field of ['author', 'license', 'version']) expect(manifest[field]).toBe(workspace[field]);
    for (const field of ['description', 'keywords']) expect(manifest[field]).not.toHaveLength(0);
    expect(manifest.engines).toEqual({ node: '>=22.12' });
  });

  test('brings the licence of the workspace', () => {
    expect(readFileSync(join(directory, 'LICENSE'), 'utf8')).toBe(
      readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    );
  });
});

test('CONTRIBUTING.md names the repository of the manifests', () => {
  const url = workspace.repository.url.replace(/^git\+|\.git$/g, '');
  expect(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')).toContain(`git clone ${url}`);
});

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
});

/** A package of a few files; names end in a slash for an empty folder. */
function packageOf(files: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'manifest-'));
  made.push(directory);
  for (const file of files) {
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    writeFileSync(join(directory, file), 'export {};\n');
  }
  return directory;
}

const BUILT = ['src/index.ts', 'dist/index.js', 'dist/index.d.ts'];
const GOOD = {
  exports: {
    '.': { [SOURCE_CONDITION]: './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
  },
  files: ['dist', 'src'],
  dependencies: { other: '0.1.0' },
};

describe('the guard before packing', () => {
  test('lets a package pass whose manifest names built files', () => {
    expect(problemsOf(packageOf(BUILT), GOOD)).toEqual([]);
  });

  test.each([
    ['nothing built', ['src/index.ts'], GOOD, /there is no dist; run/],
    ['a file that was not built', ['src/index.ts', 'src/more.ts', ...BUILT], GOOD, /src\/more\.ts/],
    [
      'TypeScript sources for everybody',
      BUILT,
      { ...GOOD, exports: './src/index.ts' },
      /exports is \.\/src\/index\.ts: Node/,
    ],
    [
      'a program that is not there',
      BUILT,
      { ...GOOD, bin: { x: './bin/x.js' } },
      /bin → x is \.\/bin\/x\.js, which does not exist/,
    ],
    [
      'a file that is not packed',
      BUILT,
      { ...GOOD, files: ['dist'] },
      /src\/index\.ts, which `files` does not include/,
    ],
    [
      'a version that only the workspace knows',
      BUILT,
      { ...GOOD, dependencies: { other: 'workspace:*' } },
      /dependencies → other is workspace:\*/,
    ],
    ['a private package', BUILT, { ...GOOD, private: true }, /it is private/],
  ])('refuses %s', (_what, files, manifest, problem) => {
    expect(problemsOf(packageOf(files), manifest).join('\n')).toMatch(problem);
  });
});

describe('a release', () => {
  const item = (name: string, dependencies: Record<string, string> = {}, version = '1.0.0') => ({
    directory: name,
    manifest: { name, version, dependencies },
  });

  test('publishes what others need first', () => {
    const order = inOrder(packages).map(({ manifest }) => manifest.name.split('/')[1]);
    const pairs = [
      ['wire', 'zones'],
      ['program', 'load'],
      ['batched-udp', 'server-cluster'],
      ['cluster-objects', 'bench-cli'],
      ['load', 'bench-cli'],
    ];
    for (const [before, after] of pairs) {
      expect(order.indexOf(before)).toBeLessThan(order.indexOf(after));
    }
    expect(() => inOrder([item('a', { b: '1.0.0' }), item('b', { a: '1.0.0' })])).toThrow('a, b');
  });

  test('of these packages could be made', () => {
    expect(releaseProblems(packages, null)).toEqual([]);
  });

  test('is refused where versions differ, or the changelog says nothing of it', () => {
    expect(releaseProblems([item('a'), item('b', {}, '2.0.0')], null)).toEqual([
      'the packages have different versions: 1.0.0, 2.0.0',
    ]);
    expect(releaseProblems([item('a'), item('b', { a: '0.9.0' })], '# Changelog\n')).toEqual([
      'b depends on a 0.9.0, not 1.0.0',
      'CHANGELOG.md has no section [1.0.0]',
    ]);
  });
});
