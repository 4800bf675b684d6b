/** The echo server in C, which `bench` compares with. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { expect, it } from 'vitest';
import { behavesAsEcho } from './support/echo.ts';

const run = promisify(execFile);
const source = fileURLToPath(new URL('../src/udp-echo.c', import.meta.url));

it('echoes, and refuses what it cannot do', needs('cc'), async () => {
  const directory = await mkdtemp(join(tmpdir(), 'udp-echo-'));
  try {
    const binary = join(directory, 'udp-echo');
    await run('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', binary, source]);
    await behavesAsEcho(binary);
    await expect(run(binary, ['--batch', '0'])).rejects.toMatchObject({ code: 2 });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
