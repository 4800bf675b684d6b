/** Finds problems with a package about to be packed that its users would run into. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The export condition with which this workspace, and nobody else, resolves a package to its sources. */
export const SOURCE_CONDITION = '@dinodns-bench/source';

export type Manifest = Readonly<Record<string, unknown>>;

/** A file that the manifest names, and the conditions on the way to it: `['exports', '.', 'types']`. */
interface Target {
  readonly path: readonly string[];
  readonly file: string;
}

const ENTRY_FIELDS = ['bin', 'exports', 'imports', 'main', 'types'];
const DEPENDENCY_FIELDS = ['dependencies', 'peerDependencies', 'optionalDependencies'];

/** Every string below `value`, with the keys that lead there. */
function targetsIn(value: unknown, path: readonly string[]): Target[] {
  if (typeof value === 'string') return [{ path, file: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => targetsIn(inner, [...path, key]));
}

/** True if `files` of the manifest covers it; npm always packs package.json, the README and the licence. */
function isPacked(manifest: Manifest, file: string): boolean {
  const name = file.replace(/^\.\//, '');
  if (name === 'package.json') return true;
  const listed = targetsIn(manifest.files, ['files']).map((target) => target.file.replace(/\/$/, ''));
  return listed.some((entry) => name === entry || name.startsWith(`${entry}/`));
}

function targetProblem(directory: string, manifest: Manifest, { path, file }: Target): string | null {
  const where = path.join(' → ');
  const source = path.includes(SOURCE_CONDITION);
  if (!source && /(?<!\.d)\.[cm]?ts$/.test(file))
    return `${where} is ${file}: Node.js does not run TypeScript in node_modules; name the built file`;
  if (!existsSync(join(directory, file)))
    return `${where} is ${file}, which does not exist; run \`pnpm build\``;
  if (!isPacked(manifest, file)) return `${where} is ${file}, which \`files\` does not include`;
  return null;
}

function dependencyProblems(manifest: Manifest): string[] {
  return DEPENDENCY_FIELDS.flatMap((field) =>
    targetsIn(manifest[field], [field])
      .filter(({ file }) => /^(?:workspace|link|file|catalog):/.test(file))
      .map(
        ({ path, file }) =>
          `${path.join(' → ')} is ${file}, which only this workspace knows; name the version`,
      ),
  );
}

/** A source that is newer than the oldest built file, or that has no built file at all. */
function staleProblems(directory: string): string[] {
  const dist = join(directory, 'dist');
  if (!existsSync(dist)) return ['there is no dist; run `pnpm build`'];
  return globSync('**/*.*', { cwd: join(directory, 'src') }).flatMap((file) => {
    const built = join(dist, file.replace(/\.ts$/, '.js'));
    if (!existsSync(built)) return [`dist lacks what src/${file} becomes; run \`pnpm build\``];
    const isNewer = statSync(join(directory, 'src', file)).mtimeMs > statSync(built).mtimeMs;
    return isNewer ? [`dist is older than src/${file}; run \`pnpm build\``] : [];
  });
}

/** Built JavaScript that still imports a TypeScript file, which is not in the package. */
function importProblems(directory: string): string[] {
  return globSync('dist/**/*.js', { cwd: directory }).flatMap((file) => {
    const text = readFileSync(join(directory, file), 'utf8');
    const found = /^(?:import|export)\b[^'"\n]*['"](\.[^'"\n]*\.ts)['"]/m.exec(text);
    return found === null ? [] : [`${file} imports ${found[1]}`];
  });
}

/** One sentence for each problem; none if the package in `directory` can be packed. */
export function problemsOf(directory: string, manifest: Manifest): string[] {
  const targets = ENTRY_FIELDS.flatMap((field) => targetsIn(manifest[field], [field]));
  return [
    ...(manifest.private === true ? ['it is private'] : []),
    ...targets.flatMap((target) => targetProblem(directory, manifest, target) ?? []),
    ...dependencyProblems(manifest),
    ...staleProblems(directory),
    ...importProblems(directory),
  ];
}
