/** The program of the README runs and prints what its comments say. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the program of the README prints what it says', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, program = ''] = /```ts\n([\s\S]+?)```/.exec(readme) ?? [];
  const directory = await mkdtemp(join(tmpdir(), 'wire-readme-'));
  try {
    const file = join(directory, 'example.ts');
    const index = new URL('../src/index.ts', import.meta.url).href;
    await writeFile(file, program.replace('@dinodns-bench/wire', index));
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    const printed = [...program.matchAll(/^ {2}\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`);
    expect(printed).not.toEqual([]);
    expect(stdout).toBe(printed.join(''));
  } finally {
    await rm(directory, { recursive: true });
  }
});
