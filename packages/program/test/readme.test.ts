/** The program that the README shows does what the README says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const [program = ''] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, body]) => body ?? '');
const [said = ''] = [...readme.matchAll(/```\n(error.*?)```/gs)].map(([, body]) => body ?? '');

// In the package's own directory, where its name means itself.
const file = fileURLToPath(new URL(`../.readme-${process.pid}.ts`, import.meta.url));
beforeAll(() => writeFile(file, program));
afterAll(() => rm(file, { force: true }));

function start(
  ...args: string[]
): ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream } {
  return spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function run(...args: string[]) {
  const child = start(...args);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  return { status, stdout, stderr };
}

it('writes its result', async () => {
  expect(await run('green')).toEqual({ status: 0, stdout: 'green\n', stderr: '' });
});

it('explains a misspelt word', async () => {
  expect(said).not.toBe('');
  expect(await run('gren')).toEqual({ status: 2, stdout: '', stderr: said });
});
