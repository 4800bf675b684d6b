/** The published packages of this workspace: how npm packs them, and how users install them. */
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

export interface PublishedPackage {
  readonly name: string;
  readonly directory: string;
  readonly manifest: {
    readonly name: string;
    readonly version: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly bin?: Readonly<Record<string, string>>;
    readonly exports: Readonly<Record<string, unknown>>;
    readonly [field: string]: unknown;
  };
}

/** All packages that are not private. */
export function publishedPackages(): PublishedPackage[] {
  return globSync('packages/*/package.json', { cwd: ROOT }).flatMap((file) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
    return manifest.private === true
      ? []
      : [{ name: manifest.name, directory: join(ROOT, dirname(file)), manifest }];
  });
}

/**
 * The environment of a user outside this workspace: without its export condition and without the variables of npm and
 * pnpm, and with the Node.js in `nodeDirectory` first in PATH.
 */
export function strangersEnvironment(nodeDirectory: string = dirname(process.execPath)): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_PATH: _path, ...variables } = process.env;
  const own = Object.entries(variables).filter(([name]) => !/^(?:npm|pnpm)_/i.test(name));
  return {
    ...Object.fromEntries(own),
    PATH: `${nodeDirectory}:${process.env.PATH}`,
    NO_COLOR: '1',
    // npm would keep compiled code in the temporary folder, which must be empty when the tests end.
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
}

/** Packs a package with `npm`, or with `pnpm` what npm has built, into a folder; returns the path of the archive. */
export async function packWith(tool: 'npm' | 'pnpm', directory: string, into: string): Promise<string> {
  mkdirSync(into, { recursive: true });
  const before = new Set(globSync('*.tgz', { cwd: into }));
  const [command, ...first] = tool === 'npm' ? ['npm'] : ['npx', '-y', 'pnpm@10'];
  const args = [
    ...first,
    'pack',
    '--pack-destination',
    into,
    ...(tool === 'pnpm' ? ['--config.ignore-scripts=true'] : []),
  ];
  const options = { cwd: directory, env: strangersEnvironment(), maxBuffer: MAX_OUTPUT_BYTES };
  await run(command ?? tool, args, options);
  const [made] = globSync('*.tgz', { cwd: into }).filter((file) => !before.has(file));
  if (made === undefined) throw new Error(`${tool} pack in ${directory} made no archive in ${into}`);
  return join(into, made);
}

/** An empty folder in which npm has installed these archives or names. */
export async function installIn(
  folder: string,
  wanted: readonly string[],
  nodeDirectory?: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...wanted];
  const options = { cwd: folder, env: strangersEnvironment(nodeDirectory), maxBuffer: MAX_OUTPUT_BYTES };
  await run('npm', args, options);
}
