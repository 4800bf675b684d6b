/** Which way imports point: between the packages, between the folders of `src`, and between its files. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const PACKAGES = resolve(import.meta.dirname, '../..');
const SOURCE = resolve(import.meta.dirname, '../src');

interface Import {
  readonly specifier: string;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

/** Every static and dynamic import and re-export of a file, by the form that Biome gives them. */
function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  const calls = text.matchAll(/\bimport\(\s*'([^']+)'/g);
  return [
    ...[...statements].map(([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
    ...[...calls].map(([, specifier = '']) => ({ specifier, typeOnly: false })),
  ];
}

const EXPERIMENTS = readdirSync(join(SOURCE, 'experiments'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

const isRelative = (specifier: string) => specifier.startsWith('.');

/** The files that a file imports from its own package. */
function filesImportedBy(file: string): string[] {
  return importsOf(file)
    .filter(({ specifier }) => isRelative(specifier))
    .map(({ specifier }) => resolve(dirname(file), specifier));
}

const sources = globSync(`${SOURCE}/**/*.{ts,mjs}`);

/** `measure` for a file below it, `cli.ts` for a file beside the folders. */
const layerOf = (file: string) => relative(SOURCE, file).split('/')[0] ?? '';

describe('the folders of bench', () => {
  const readme = readFileSync(join(SOURCE, 'README.md'), 'utf8');
  const layers = [...readme.matchAll(/^ {4}(\S+) {2,}\S/gm)].flatMap(([, name]) => name ?? []);

  it('are all in the list of src/README.md, and nothing else is', () => {
    const entries = readdirSync(SOURCE).filter((name) => !name.endsWith('.md'));
    expect(layers.toSorted()).toEqual(entries.toSorted());
  });

  it('import only what is further down in that list', () => {
    const rank = new Map(layers.map((name, index) => [name, index]));
    const upward = sources.flatMap((file) =>
      filesImportedBy(file)
        .filter((imported) => !relative(SOURCE, imported).startsWith('..'))
        .filter((imported) => (rank.get(layerOf(imported)) ?? -1) < (rank.get(layerOf(file)) ?? 0))
        .map((imported) => `${relative(SOURCE, file)} → ${relative(SOURCE, imported)}`),
    );
    expect(upward).toEqual([]);
  });

  it('are passed in three ways of at most ten files, which the README names', () => {
    const ways = [...readme.matchAll(/^ {4}(\S+\.ts(?: [→⇢] \S+\.ts)+)$/gm)].map(([, way = '']) => way);
    expect(ways).toHaveLength(3);
    for (const way of ways) {
      const files = way.split(/ [→⇢] /).map((name) => join(SOURCE, name));
      expect(files.length, way).toBeLessThanOrEqual(10);
      expect(files.filter((file) => !existsSync(file))).toEqual([]);
      const unlinked = way.split(' ⇢ ').flatMap((stretch) => {
        const linked = stretch.split(' → ').map((name) => join(SOURCE, name));
        return linked.slice(1).flatMap((file, at) => {
          const before = linked[at] ?? '';
          const isLinked = filesImportedBy(before).includes(file) || filesImportedBy(file).includes(before);
          return isLinked ? [] : [`${relative(SOURCE, before)} → ${relative(SOURCE, file)}`];
        });
      });
      expect(unlinked).toEqual([]);
    }
  });

  /** A folder of an experiment, or a file beside them. */
  const partOf = (file: string) =>
    relative(join(SOURCE, 'experiments'), file).split('/').slice(0, 2).join('/');

  it.each(EXPERIMENTS)('inside of %s import each other in one direction', (experiment) => {
    const inside = sources.filter((file) => partOf(file).startsWith(`${experiment}/`));
    const below = new Map<string, Map<string, string>>();
    for (const file of inside)
      for (const imported of filesImportedBy(file)) {
        const [part, other] = [partOf(file), partOf(imported)];
        if (part === other || !other.startsWith(`${experiment}/`)) continue;
        const names = [file, imported].map((name) => relative(SOURCE, name)).join(' → ');
        below.set(part, (below.get(part) ?? new Map()).set(other, names));
      }
    const circles: string[] = [];
    const finished = new Set<string>();
    const visit = (part: string, path: readonly string[]) => {
      const start = path.indexOf(part);
      if (start >= 0) {
        const circle = [...path.slice(start), part];
        circles.push(
          circle
            .slice(1)
            .map((next, index) => below.get(circle[index] ?? '')?.get(next))
            .join(', '),
        );
      }
      if (start >= 0 || finished.has(part)) return;
      for (const next of below.get(part)?.keys() ?? []) visit(next, [...path, part]);
      finished.add(part);
    };
    for (const part of below.keys()) visit(part, []);
    expect(circles).toEqual([]);
  });

  it('import no file of each other in a circle', () => {
    const finished = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (finished.has(file) || !existsSync(file)) return;
      const start = path.indexOf(file);
      if (start >= 0) {
        circles.push([...path.slice(start), file].map((name) => relative(SOURCE, name)).join(' → '));
        return;
      }
      for (const imported of filesImportedBy(file)) visit(imported, [...path, file]);
      finished.add(file);
    };
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });

  /** What statistics and reports may use of Node.js: nothing that reads, writes or starts anything. */
  const HARMLESS = ['node:crypto', 'node:path', 'node:url', 'node:util', 'node:zlib'];

  const EXCEPTIONS = [
    // Files that are part of the program: the page's style and script.
    'own-files.ts → node:fs',
    // Collects garbage between two large pictures.
    'report/collect.ts → node:v8',
    'report/collect.ts → node:vm',
  ];

  it.each(['stats', 'report'])('%s imports nothing that could touch the world', (folder) => {
    const reached = new Set(sources.filter((file) => layerOf(file) === folder));
    const effects: string[] = [];
    // A set that grows while it is walked gives what was added as well.
    for (const file of reached) {
      for (const { specifier, typeOnly } of importsOf(file)) {
        if (typeOnly) continue;
        const imported = isRelative(specifier) ? resolve(dirname(file), specifier) : specifier;
        if (isRelative(specifier)) reached.add(imported);
        const isEffect = imported.startsWith('node:') && !HARMLESS.includes(imported);
        if (isEffect) effects.push(`${relative(SOURCE, file)} → ${imported}`);
      }
    }
    expect(effects.filter((effect) => !EXCEPTIONS.includes(effect))).toEqual([]);
    const names = [...reached].map(layerOf);
    expect(names).not.toContain('world.ts');
    expect(names).not.toContain('process.ts');
  });
});

describe('the packages', () => {
  /** What each may depend on. Nothing points back. */
  const ALLOWED: Readonly<Record<string, readonly string[]>> = {
    'bench-cli': ['load', 'server-cluster', 'cluster-objects', 'zones', 'batched-udp', 'wire', 'program'],
    'server-cluster': ['zones', 'batched-udp', 'wire', 'program'],
    load: ['zones', 'batched-udp', 'wire', 'program'],
    'cluster-objects': ['batched-udp', 'wire', 'program'],
    zones: ['wire', 'program'],
    'batched-udp': ['wire', 'program'],
    wire: [],
    program: [],
    'test-support': [],
  };
  const OURS = /^@dinodns-bench\/([^/]+)/;
  const names = readdirSync(PACKAGES).filter((name) => existsSync(join(PACKAGES, name, 'package.json')));
  const manifestOf = (name: string) => JSON.parse(readFileSync(join(PACKAGES, name, 'package.json'), 'utf8'));
  const ours = (specifiers: Iterable<string>) =>
    [...new Set(specifiers)].flatMap((specifier) => OURS.exec(specifier)?.[1] ?? []);

  it('are all named here', () => {
    expect(names.filter((name) => ALLOWED[name] === undefined)).toEqual([]);
  });

  it.each(names)('%s depends only on packages below it', (name) => {
    const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifestOf(name);
    const declared = ours(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }));
    expect(declared.filter((other) => !ALLOWED[name]?.includes(other))).toEqual([]);
  });

  it.each(names)('%s imports only what its manifest declares, and no file of another package', (name) => {
    const root = join(PACKAGES, name);
    const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifestOf(name);
    const declared = ours(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }));
    const files = globSync(`${root}/src/**/*.{ts,mjs,js}`);
    const undeclared = files.flatMap((file) =>
      ours(importsOf(file).map(({ specifier }) => specifier))
        .filter((other) => other !== name && !declared.includes(other))
        .map((other) => `${relative(root, file)} → ${other}`),
    );
    const outside = files.flatMap((file) =>
      filesImportedBy(file)
        .filter((imported) => relative(root, imported).startsWith('..'))
        .map((imported) => `${relative(root, file)} → ${relative(PACKAGES, imported)}`),
    );
    expect([...undeclared, ...outside]).toEqual([]);
  });
});
