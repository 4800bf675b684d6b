/** A folder of links to the programs of a fresh machine: the PATH of tests that need only the workspace. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { findInPath } from './requirements.ts';

const LIST = new URL('../fresh-machine.txt', import.meta.url);

/** Names of the programs, one word each. */
export function freshPrograms(): string[] {
  return readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(' '))
    .filter((name) => name !== '');
}

/** Makes the folder. Returns a PATH of it and of the running Node.js, which comes with the workspace. */
export function makeFreshPath(folder: string): string {
  mkdirSync(folder);
  for (const name of freshPrograms()) {
    const path = findInPath(name);
    if (path !== undefined && name !== 'node') symlinkSync(path, join(folder, name));
  }
  return [dirname(process.execPath), folder].join(delimiter);
}
