/** The UDP echo: the ceiling for servers, measured like one and marked as none. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordSchema } from '../src/results/record.ts';
import { echoInC, echoOnNode } from '../src/servers/echo/program.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

it('is measured without a check of answers that it does not give, and every report says what it is', async () => {
  const flags = [
    ...['--servers', 'echo,dinodns', '--duration', '1', '--warmup', '0', '--zones', '20', '--trials', '1'],
    ...['--loader', 'builtin', '--rate', '200'],
  ];
  expect(await world.bench('run', ...flags)).toBe(0);
  const runs = await readdir(join(world.directory, 'results'));
  const folder = join(world.directory, 'results', runs[0] ?? '');
  const record = recordSchema.parse(JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')));
  const [server] = record.servers;
  expect(server).toMatchObject({ kind: 'echo', components: { answers: 'echo' } });
  const trials = record.trials.map((trial) => (trial.status === 'ok' ? trial.checkedAnswers : trial.failure));
  expect(trials).toEqual([0, 40]);
  for (const text of [world.out(), await readFile(join(folder, 'report.md'), 'utf8')]) {
    expect(text).toContain('UDP echo (no DNS)');
    expect(text.replace(/\s+/g, ' ')).toContain('Not a DNS server but an upper bound for one');
  }
}, 120_000);

it('has one thread, and speaks UDP only', async () => {
  expect(await world.bench('run', '--servers', 'echo,knot', '--mode', 'multi', '--dry-run')).toBe(2);
  expect(world.err()).toContain('it has one thread');
  expect(await world.bench('run', '--servers', 'echo,knot', '--transport', 'tcp', '--dry-run')).toBe(2);
  expect(world.err()).toContain('over UDP only');
});

it('is compiled once for each source and compiler, or runs on Node.js where there is none', async () => {
  const cache = { XDG_CACHE_HOME: world.directory };
  const withCompiler = await testWorld({ env: cache });
  const first = await echoInC(withCompiler);
  const without = await testWorld({ env: { ...cache, PATH: '/nowhere' } });
  expect(await echoInC(without)).toEqual({ problem: 'there is no C compiler' });
  const script = await echoOnNode(without);
  expect(script).toMatchObject({ found: { tool: 'udp-echo', origin: expect.stringContaining('Node.js') } });
  if ('found' in first) {
    expect(first.found.origin).toContain('@dinodns-bench/batched-udp/udp-echo.c, compiled with');
    const compiled = withCompiler.started.length;
    expect(await echoInC(withCompiler)).toEqual(first);
    // Only the compiler's version is asked again.
    expect(withCompiler.started.length).toBe(compiled + 1);
  } else {
    expect(first).toEqual({ problem: 'there is no C compiler' });
  }
  await Promise.all([withCompiler.remove(), without.remove()]);
});
