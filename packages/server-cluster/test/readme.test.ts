/** The README's program runs as it stands there, and its tables say what the code says. */
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import {
  FIRST_DELAY_SECONDS,
  MAX_DELAY_SECONDS,
  MAX_FAILED_STARTS,
  STABLE_SECONDS,
} from '../src/cluster/backoff.ts';
import {
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
} from '../src/index.ts';
import { ask, query, RCODE, send, TRANSPORTS } from './support/client.ts';
import {
  freePort,
  killAll,
  type RunningServer,
  runToEnd,
  startServer,
  until,
} from './support/server-process.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
// Beside the package's sources, so that the package's own name leads to them.
const PROGRAM = fileURLToPath(new URL('./support/readme-program.generated.ts', import.meta.url));

afterEach(async () => {
  await killAll();
  await rm(PROGRAM, { force: true });
});

/** Starts the program of the README that contains this text. */
async function startProgram(text: string, env: NodeJS.ProcessEnv = {}): Promise<RunningServer> {
  const programs = [...README.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, program = '']) => program);
  const program = programs.find((candidate) => candidate.includes(text));
  if (program === undefined) throw new Error(`no program with ${text}`);
  await writeFile(PROGRAM, program);
  Object.assign(process.env, env);
  return startServer([], { file: PROGRAM });
}

test('the shortest program serves the zones of the benchmark', async () => {
  const server = await startProgram('defineZoneSet');
  expect((await ask('udp', server.ready, 'example1.com')).answers).toMatchObject([{ data: '127.0.0.1' }]);
  expect((await ask('tcp', server.ready, 'example2.com')).rcode).toBe(RCODE.REFUSED);
});

test('one import and one line accelerate a framework server', async () => {
  const port = await freePort();
  await startProgram('accelerate(server, store).start', { PORT: String(port) });
  const endpoint = { address: '127.0.0.1', port };
  // The framework says that it has started before its sockets are bound.
  for (const transport of TRANSPORTS) {
    const isBound = () =>
      send(transport, endpoint, query('example.org')).then(
        (reply) => reply !== undefined,
        () => false,
      );
    expect(await until(isBound, 20)).toBe(true);
  }
  for (const transport of TRANSPORTS) {
    expect((await ask(transport, endpoint, 'example.org')).answers).toMatchObject([{ data: '192.0.2.1' }]);
    expect((await ask(transport, endpoint, 'example.net')).rcode).toBe(RCODE.NXDOMAIN);
  }
});

test('the example serves its zone and its handler, and stops on SIGTERM', async () => {
  const server = await startProgram('time.example.org');
  expect((await ask('udp', server.ready, 'WWW.example.org')).answers).toMatchObject([{ data: '192.0.2.1' }]);
  const time = await ask('tcp', server.ready, 'time.example.org', 'TXT');
  expect(time.isAuthoritative).toBe(true);
  expect(String(time.answers[0]?.type === 'TXT' && time.answers[0].data)).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('every flag is in the README, with its default', async () => {
  const { stdout } = await runToEnd(['--help']);
  const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
  expect(flags.length).toBeGreaterThan(15);
  for (const flag of flags) {
    if (flag !== '--help' && flag !== '--version') expect(README).toMatch(new RegExp(`\\| \`${flag}[ \`]`));
  }
  expect(README).toMatch(new RegExp(`--tcp-idle .*\\| \`${DEFAULT_IDLE_SECONDS}\``));
  expect(README).toMatch(new RegExp(`--tcp-connections N.*\\| \`${DEFAULT_MAX_CONNECTIONS}\``));
  expect(README).toMatch(
    new RegExp(`--tcp-connections-per-client N.*\\| \`${DEFAULT_MAX_CONNECTIONS_PER_CLIENT}\``),
  );
});

test('the back-off is as the README describes', () => {
  const prose = README.replace(/\s+/g, ' ');
  expect(prose).toContain(`replaced after ${FIRST_DELAY_SECONDS} s`);
  expect(prose).toContain(`at most ${MAX_DELAY_SECONDS} s`);
  expect(prose).toContain(`served for ${STABLE_SECONDS} s`);
  expect(prose).toContain(`If ${MAX_FAILED_STARTS} in a row`);
});
