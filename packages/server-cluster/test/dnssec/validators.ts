/** Asks BIND's and Unbound's validator whether an answer of a server is proved by its signatures. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '@dinodns-bench/test-support';
import { ZONE } from './signed-zone.ts';

const execute = promisify(execFile);

/** One question for each way in which something is proved. */
export const VALIDATED = [
  { name: '', type: 'SOA', verdict: 'answer' },
  { name: 'www', type: 'A', verdict: 'answer' },
  { name: 'alias', type: 'AAAA', verdict: 'answer' },
  { name: 'a.wild', type: 'A', verdict: 'answer' },
  { name: 'b.a.wild', type: 'TXT', verdict: 'answer' },
  { name: 'to-wild', type: 'A', verdict: 'answer' },
  { name: 'x.alias-wild', type: 'A', verdict: 'answer' },
  { name: 'a.ent.old', type: 'A', verdict: 'answer' },
  { name: 'secure', type: 'DS', verdict: 'answer' },
  { name: 'www', type: 'TXT', verdict: 'denial' },
  { name: 'ent.deep', type: 'A', verdict: 'denial' },
  { name: 'a.wild', type: 'AAAA', verdict: 'denial' },
  { name: 'a.empty-wild', type: 'A', verdict: 'denial' },
  { name: 'missing', type: 'A', verdict: 'denial' },
  { name: 'b.ent.deep', type: 'A', verdict: 'denial' },
] as const;

type Verdict = (typeof VALIDATED)[number]['verdict'];

export const DELV: Record<Verdict, RegExp> = {
  answer: /^; fully validated/m,
  denial: /^; negative response, fully validated/m,
};
export const UNBOUND: Record<Verdict, RegExp> = {
  answer: /\(secure\)/,
  denial: /(has no|not found).*\(secure\)/,
};

/** Right but unproved. A wrong proof would be called bogus, or "resolution failed". */
export const INSECURE = /^; (unsigned answer|negative response, unsigned answer)|\(insecure\)/m;

/** Its output, whatever the exit status. */
async function outputOf(command: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout, stderr } = await execute(command, args, { timeout: 20_000 });
    return stdout + stderr;
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? `${error.stdout} ${error.message}` : String(error);
  }
}

export async function delv(
  port: number,
  directory: string,
  anchor: string,
  name: string,
  type: string,
  zone: string = ZONE,
): Promise<string> {
  const file = join(directory, 'anchors');
  const key = anchor.slice(anchor.indexOf(' 257 ') + 1).replace(/^(\d+ \d+ \d+) (.*)$/, '$1 "$2"');
  await writeFile(file, `trust-anchors { ${zone}. static-key ${key}; };\n`);
  return outputOf(pathOf('delv'), [
    '@127.0.0.1',
    '-p',
    String(port),
    '-a',
    file,
    `+root=${zone}`,
    name,
    type,
  ]);
}

export async function unboundHost(
  port: number,
  directory: string,
  anchor: string,
  name: string,
  type: string,
  zone: string = ZONE,
): Promise<string> {
  const file = join(directory, 'unbound.conf');
  const server = `server:\n  do-not-query-localhost: no\n  trust-anchor: "${anchor.replaceAll('"', '')}"\n  local-zone: "test." nodefault\n`;
  await writeFile(file, `${server}stub-zone:\n  name: "${zone}"\n  stub-addr: 127.0.0.1@${port}\n`);
  return outputOf(pathOf('unbound-host'), ['-v', '-C', file, '-t', type, name]);
}
