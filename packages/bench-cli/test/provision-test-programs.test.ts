/** `bench doctor --for tests`: what the suites need, and getting it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import requirements from '../../test-support/requirements.json' with { type: 'json' };
import { DEFAULTS } from '../src/config/settings.ts';
import { getTestPrograms, inspectTestPrograms } from '../src/doctor/test-programs.ts';
import { createProvisioner } from '../src/provision/provision.ts';
import type { World } from '../src/world.ts';
import { systemError } from './local-fixtures.ts';
import { emptyMachine, type Machine } from './provision-fixtures.ts';
import { testWorld } from './support/test-world.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A machine of root's with nothing in it, whose apt-get writes down what it is asked to install, and fails for `fails`. */
async function machineWithApt(fails = 'nothing'): Promise<Machine & { world: World }> {
  const machine = await emptyMachine({ DINODNS_BENCH_COREDNS_RELEASES: 'http://127.0.0.1:1' });
  closers.push(machine.remove);
  await machine.script(
    'apt-get',
    `case "$*" in *${fails}*) echo "E: Unable to locate package ${fails}" >&2; exit 100 ;; esac
[ "$RUNLEVEL" = 1 ] && echo "$*" >> ${machine.home}/apt.log`,
  );
  const access: World['fs']['access'] = (path, mode) =>
    String(path).startsWith(machine.home)
      ? machine.world.fs.access(path, mode)
      : Promise.reject(systemError('ENOENT'));
  const world = {
    ...machine.world,
    fs: { ...machine.world.fs, access },
    machine: { ...machine.world.machine, userId: 0 },
  };
  return { ...machine, world };
}

async function installed({ home }: Machine): Promise<string[]> {
  const lines = (await readFile(join(home, 'apt.log'), 'utf8')).trim().split('\n');
  return lines.filter((line) => line.startsWith('install') && !line.includes('--print-uris'));
}

it('knows every program that a test may declare, and the CoreDNS that runs use', async () => {
  const { world, script, bin } = await machineWithApt();
  await script('tcpdump', 'exit 0');
  const programs = await inspectTestPrograms(world);
  expect(programs.map(({ program }) => program)).toEqual(Object.keys(requirements));
  expect(programs.filter(({ found }) => found !== null)).toMatchObject([
    { program: 'tcpdump', suite: 'servers', found: join(bin, 'tcpdump') },
  ]);
  expect(requirements.coredns.release).toBe(DEFAULTS.corednsVersion);
});

it('installs what is missing, suite by suite, without starting any daemon, and says what could not be got', async () => {
  const machine = await machineWithApt();
  await machine.script('tcpdump', 'exit 0');
  const programs = await inspectTestPrograms(machine.world);
  const provide = createProvisioner(machine.world);
  const problems = await getTestPrograms(machine.world, programs, provide, machine.options);
  const [servers = '', browser = '', ...more] = await installed(machine);
  expect(servers).toMatch(/ knot nsd bind9 .*gcc libc6-dev/);
  expect(servers).not.toContain('tcpdump');
  expect(browser).toMatch(/ chromium$/);
  expect(more).toEqual([]);
  expect(problems).toEqual([expect.stringContaining('CoreDNS')]);
});

it('gets the servers also where one package of the other suite is unknown', async () => {
  const machine = await machineWithApt('chromium');
  const programs = await inspectTestPrograms(machine.world);
  const provide = createProvisioner(machine.world);
  const problems = await getTestPrograms(machine.world, programs, provide, machine.options);
  expect((await installed(machine)).join()).toContain('tcpdump');
  expect(problems.join('\n')).toContain('Unable to locate package chromium');
});

it('is a report only, without --fix, and its exit status says whether anything is missing', async () => {
  const machine = await machineWithApt();
  const world = await testWorld({
    env: { ...machine.world.env, XDG_CACHE_HOME: join(machine.home, 'cache') },
  });
  closers.push(world.remove);
  expect(await world.bench('doctor', '--for', 'tests')).toBe(3);
  expect(world.out()).toMatch(/^✗ dig +missing, for `pnpm test:servers`/m);
  expect(world.out()).toContain('doctor --fix --for tests');
  await expect(readFile(join(machine.home, 'apt.log'))).rejects.toThrow('ENOENT');
});
