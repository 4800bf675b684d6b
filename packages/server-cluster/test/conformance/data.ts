/** Finds the data that others made, which is not in the repository: it is theirs, and large. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const WORKSPACE = resolve(import.meta.dirname, '../../../..');

/** Where the files are: `DINODNS_BENCH_CONFORMANCE`, else `../shared/conformance` beside the workspace. */
const DIRECTORY = process.env.DINODNS_BENCH_CONFORMANCE ?? join(WORKSPACE, '../shared/conformance');

/** With `1` a file that is missing fails its suite, as in CI. Otherwise the suite is left out. */
const IS_REQUIRED = process.env.DINODNS_BENCH_REQUIRE_CONFORMANCE === '1';

/** The path of a file; undefined, and a sentence on standard error, if it is not there and not required. */
export function conformanceFile(name: string): string | undefined {
  const path = join(DIRECTORY, name);
  if (existsSync(path)) return path;
  const problem = `${path} is missing: set DINODNS_BENCH_CONFORMANCE to the directory that has ${name}`;
  if (IS_REQUIRED) throw new Error(problem);
  console.warn(`Left out: ${problem}.`);
  return undefined;
}
