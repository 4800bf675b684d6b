/** Runs this package with another version of the framework than the one that is installed beside it. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ServerError } from '../errors.ts';

const FLAG = '--framework';

/** The directory after `--framework`, or in `--framework=…`; undefined without it. */
export function frameworkOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === FLAG || arg.startsWith(`${FLAG}=`));
  const found = args[at];
  return found === FLAG ? args[at + 1] : found?.slice(FLAG.length + 1);
}

/**
 * Makes every later import of `dinodns/…` in this process come from `directory`, which holds its package.json. Throws
 * `E_UNREADABLE` if it is not there, and `E_UNSUPPORTED` on a Node.js before 22.15.
 */
export function useFramework(directory: string): void {
  const manifest = join(resolve(directory), 'package.json');
  if (!existsSync(manifest)) {
    throw new ServerError(
      'E_UNREADABLE',
      `${FLAG} ${directory}: there is no package.json.`,
      'Give the directory of an installed npm package dinodns.',
    );
  }
  if (module.registerHooks === undefined) {
    throw new ServerError(
      'E_UNSUPPORTED',
      `Node.js ${process.versions.node} cannot load another framework.`,
      'Use Node.js 22.15 or later.',
    );
  }
  const base = pathToFileURL(resolve(directory)).href;
  module.registerHooks({
    resolve(specifier, context, next) {
      const [, path] = /^dinodns(\/.+)$/.exec(specifier) ?? [];
      return next(path === undefined ? specifier : `${base}${path}`, context);
    },
  });
}
