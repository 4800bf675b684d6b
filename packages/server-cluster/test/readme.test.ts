/** The README's program runs as it stands there, and its tables say what the code says. */
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import {
  FIRST_DELAY_SECONDS,
  LONGEST_DELAY_SECONDS,
  MAX_FAILED_STARTS,
  STABLE_SECONDS,
} from '../src/cluster/backoff.ts';
import { EXIT_STATUS } from '../src/index.ts';
import { ask } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
// Beside the package's sources, so that the package's own name leads to them.
const PROGRAM = fileURLToPath(new URL('./support/readme-program.generated.ts', import.meta.url));

afterEach(async () => {
  await killAll();
  await rm(PROGRAM, { force: true });
});

test('the example serves its zone and its handler, and stops on SIGTERM', async () => {
  const [, program = ''] = /```ts\n([\s\S]+?)```/.exec(README) ?? [];
  await writeFile(PROGRAM, program);
  const server = await startServer([], { file: PROGRAM });
  expect((await ask('udp', server.ready, 'WWW.example.org')).answers).toMatchObject([{ data: '192.0.2.1' }]);
  const time = await ask('tcp', server.ready, 'time.example.org', 'TXT');
  expect(time.isAuthoritative).toBe(true);
  expect(String(time.answers[0]?.type === 'TXT' && time.answers[0].data)).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('every exit status is in the README', () => {
  for (const status of Object.values(EXIT_STATUS)) {
    expect(README).toMatch(new RegExp(`^\\| (\\d+, )?${status}(, \\d+)? +\\|`, 'm'));
  }
});

test('the back-off is the one that the README describes', () => {
  expect(README).toContain(`replaced after ${FIRST_DELAY_SECONDS} s`);
  expect(README).toContain(`${LONGEST_DELAY_SECONDS} s at most`);
  expect(README).toContain(`served for ${STABLE_SECONDS} s`);
  expect(README).toContain(`When ${MAX_FAILED_STARTS} in a row`);
});
