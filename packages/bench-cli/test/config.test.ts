import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { settingsPage } from '../scripts/settings-doc.ts';
import {
  commandFor,
  configure,
  parseConfigurationFile,
  settingsOf,
  shortRun,
} from '../src/config/configuration.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { Setting, SettingTable } from '../src/config/setting.ts';
import { SETTING_NAMES, SETTINGS, variableOf } from '../src/config/settings.ts';
import { BenchError } from '../src/errors.ts';
import { CACHING_SETTINGS, THROUGHPUT_SETTINGS } from '../src/experiments/capacity/cases/settings.ts';
import { MEMORY_SETTINGS } from '../src/experiments/capacity/memory/settings.ts';
import { PROPAGATION_SETTINGS } from '../src/experiments/capacity/propagation/settings.ts';
import { SURVIVE_SETTINGS } from '../src/experiments/capacity/survive/settings.ts';
import { DISRUPT_SETTINGS } from '../src/experiments/disrupt/settings.ts';
import { LOOKUP_SETTINGS } from '../src/experiments/lookup/settings.ts';
import { LOSS_SETTINGS } from '../src/experiments/loss/settings.ts';
import { SWAP_SETTINGS } from '../src/experiments/swap/settings.ts';
import { testWorld } from './support/test-world.ts';

const nothing = { env: {}, flags: {} };

function problemsOf(action: () => unknown): readonly string[] {
  try {
    action();
  } catch (error) {
    if (error instanceof BenchError) return [error.code, ...error.evidence];
    throw error;
  }
  return [];
}

describe('configure', () => {
  it('gives the documented defaults when nothing is set', () => {
    expect(configure(nothing)).toMatchObject({
      servers: ['coredns', 'dinodns-stock', 'dinodns'],
      baseline: 'coredns',
      tiers: [1],
      modes: ['single'],
      durationSeconds: 10,
      warmupSeconds: 2,
      trials: 3,
      ratesPerSecond: [null],
      transports: ['udp'],
      workloads: ['half'],
      exclude: [],
      outstanding: 100,
      zones: 100,
    });
  });

  it('lets flags win over the environment, it over the file, and it over the preset', () => {
    const file = { path: 'bench.yaml', values: { duration: 30, trials: 7, warmup: '1s' } };
    const env = { DINODNS_BENCH_TRIALS: '8', DINODNS_BENCH_WARMUP: '3s' };
    const result = configure({ preset: 'blog', file, env, flags: { warmup: '4' } });
    expect(result).toMatchObject({ tiers: [1, 2, 4], durationSeconds: 30, trials: 8, warmupSeconds: 4 });
  });

  it('reads lists, fractions and durations as people write them', () => {
    const result = configure({ env: {}, flags: { tier: '0.5, 1,2', duration: '2m', servers: 'knot, nsd' } });
    expect(result).toMatchObject({ tiers: [0.5, 1, 2], durationSeconds: 120, servers: ['knot', 'nsd'] });
  });

  it('takes the first server as the baseline where CoreDNS is not compared', () => {
    expect(configure({ env: {}, flags: { servers: 'knot,nsd' } }).baseline).toBe('knot');
  });

  it('reports the problems of every source at once, with the place each comes from', () => {
    const problems = problemsOf(() =>
      configure({
        preset: 'blogg',
        file: { path: 'bench.yaml', values: { durration: 10, mode: 'triple' } },
        env: { DINODNS_BENCH_TRIALS: 'many' },
        flags: { tier: '1,x', rate: '0' },
      }),
    );
    expect(problems[0]).toBe('E_CONFIG');
    expect(problems.slice(1).join('\n')).toMatchInlineSnapshot(`
      "--preset: "blogg" must be one of quick, blog
      bench.yaml: durration: unknown key; did you mean "duration"?
      bench.yaml: mode: "triple" must be one of single, multi, both
      DINODNS_BENCH_TRIALS: "many" must be a whole number from 1 to 1000
      --tier: "1,x" must be a list of vCPU counts, each from 0.1 to 1024, for example 1,2,4 or 0.5
      --rate: "0" must be a list of queries per second, each from 1 to 1e9, or max for no limit"
    `);
  });

  it.each([
    [{ baseline: 'nsd' }, '--baseline: "nsd" is not among --servers'],
    [{ threads: '30' }, '--threads: 30 threads need at least as many sockets'],
    [{ tier: '1,1' }, '--tier: 1,1 names something twice'],
    [{ outstanding: '2', threads: '4' }, '--threads: 4 threads share --outstanding 2'],
    [{ target: 'kubernetes', path: 'pod', mode: 'single', tier: '2' }, '--path: pod leads to one pod'],
    [
      { target: 'kubernetes', path: 'local', mode: 'single', tier: '2' },
      '--path: local leads to pods of one node only',
    ],
    [
      { target: 'kubernetes', path: 'local', mode: 'single', tier: '2', serverNode: 'pool=dns' },
      '--path: local leads to pods of one node only; put all of them on one with --server-node NAME or --replicas packed (labels may fit several nodes)',
    ],
    [
      {
        ...{ target: 'kubernetes', path: 'local', mode: 'single', tier: '2', servers: 'knot,nsd' },
        ...{ duet: 'on', serverNode: 'pool=dns', replicas: 'packed' },
      },
      '--path: local leads to pods of one node only; put all of them on one with --server-node NAME (',
    ],
    [
      {
        ...{ target: 'kubernetes', path: 'local', mode: 'single', tier: '2' },
        ...{ serverNode: 'pool=dns', replicas: 'spread' },
      },
      '--path: local leads to pods of one node only; use --path service, or omit --replicas spread',
    ],
    [
      { target: 'kubernetes', replicas: 'packed', mode: 'multi', tier: '2' },
      '--replicas: packed needs several pods; use --mode single with a --tier above 1, or omit it',
    ],
    [
      { target: 'kubernetes', path: 'pod,local', servers: 'knot,nsd' },
      '--path: 2 paths to one server are compared; give one with --servers (now knot,nsd)',
    ],
    [
      { target: 'kubernetes', path: 'service,headless', servers: 'nsd', mode: 'both', tier: '2' },
      '--path: headless leads to one pod',
    ],
    [
      { target: 'kubernetes', path: 'pod,service', servers: 'nsd', baseline: 'nsd:local' },
      '--baseline: "nsd:local" is not among --servers nsd by --path pod,service',
    ],
  ])('refuses settings that do not fit together: %j', (flags, expected) => {
    const problems = problemsOf(() => configure({ env: {}, flags }));
    expect(problems.join('\n')).toContain(expected);
  });

  it.each([{ serverNode: 'worker-1' }, { replicas: 'packed' }])(
    'takes the path to pods of one node where all of them are on one: %j',
    (flags) => {
      const local = { target: 'kubernetes', path: 'local', mode: 'single', tier: '2' };
      expect(() => configure({ env: {}, flags: { ...local, ...flags } })).not.toThrow();
    },
  );

  it('refuses a file that is not a mapping', () => {
    expect(
      problemsOf(() => configure({ ...nothing, file: { path: 'x.yaml', values: [1] } })).join(),
    ).toContain('x.yaml: must be a mapping of settings');
  });

  it('says where a YAML file breaks', async () => {
    await expect(parseConfigurationFile('x.yaml', 'tier: [1')).rejects.toThrow(/x\.yaml is not YAML/);
  });
});

describe('settings', () => {
  it('survive the way into a record and back', () => {
    const configuration = configure({
      env: {},
      flags: { rate: '2000', mode: 'both', tier: '0.5,2', zones: '7' },
    });
    const again = configure({ ...nothing, file: { path: 'run.json', values: settingsOf(configuration) } });
    expect(again).toEqual(configuration);
  });

  it('become a command that repeats the run without the file and environment they came from', () => {
    const configuration = configure({
      file: { path: 'x.yaml', values: { tier: [0.5], provision: false } },
      env: { DINODNS_BENCH_TRIALS: '5' },
      flags: { servers: 'knot,nsd', baseline: 'nsd', out: '/elsewhere' },
    });
    expect(commandFor(configuration).join(' ')).toBe(
      'pnpm bench run --servers knot,nsd --tier 0.5 --baseline nsd --duration 10 --warmup 2 --trials 5 --coredns-version 1.15.0 --no-provision',
    );
  });

  it('have a flag and a variable each', () => {
    const flags = Object.values(SETTINGS).map(({ flag }) => flag);
    expect(flags.every((flag) => /^--[a-z0-9-]+( (<[a-z]+>|\[[a-z]+\]))?$/.test(flag))).toBe(true);
    expect(new Set(flags).size).toBe(flags.length);
    expect(variableOf('corednsVersion')).toBe('DINODNS_BENCH_COREDNS_VERSION');
  });

  it.each(Object.entries<Setting>(SETTINGS))(
    '%s has a default and a field that it takes itself',
    (name, setting) => {
      if (setting.default === undefined) return;
      expect(setting.schema.parse(setting.default)).toEqual(setting.default);
      const field = setting.toField?.(setting.default);
      if (setting.fromField !== undefined) expect(setting.fromField(field), name).toEqual(setting.default);
    },
  );

  it('read the values of presets', () => {
    const values = Object.values(PRESETS).flatMap((preset) => Object.entries<unknown>(preset));
    const schemas: Readonly<Record<string, Setting>> = SETTINGS;
    for (const [name, value] of values) expect(schemas[name]?.schema.parse(value)).toEqual(value);
  });

  it('each say what a value must be, whatever is wrong with it', () => {
    const wrong = ['abc?', '', -1, 1e12, null, true, {}, [[]], ['abc?']];
    const tables: readonly SettingTable[] = [
      SETTINGS,
      CACHING_SETTINGS,
      DISRUPT_SETTINGS,
      LOOKUP_SETTINGS,
      LOSS_SETTINGS,
      MEMORY_SETTINGS,
      PROPAGATION_SETTINGS,
      SURVIVE_SETTINGS,
      SWAP_SETTINGS,
      THROUGHPUT_SETTINGS,
    ];
    for (const [name, { schema }] of tables.flatMap((table) => Object.entries(table)))
      for (const value of wrong)
        for (const { message } of schema.safeParse(value).error?.issues ?? [])
          expect(message, `${name}: ${JSON.stringify(value)}`).not.toMatch(/^(Invalid|Too) /);
  });

  it('are declared once each: no other file of this folder lists their names', async () => {
    const folder = new URL('../src/config/', import.meta.url);
    const files = (await readdir(folder)).filter((file) => file !== 'presets.ts');
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
    const declared = texts.join('\n');
    for (const name of SETTING_NAMES) {
      // As the key of an object or of a type.
      const keys = declared.match(new RegExp(`^\\s*(?:readonly )?${name}\\??:`, 'gm')) ?? [];
      expect(keys, name).toHaveLength(1);
    }
  });

  it('are documented in docs/settings.md (node packages/bench-cli/scripts/settings-doc.ts > docs/settings.md)', async () => {
    const page = await readFile(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
    expect(page).toBe(settingsPage());
  });

  it('are all in the complete help of `bench run`', async () => {
    const world = await testWorld();
    try {
      expect(await world.bench('run', '--help-all')).toBe(0);
      for (const { flag } of Object.values(SETTINGS)) expect(world.out()).toContain(`  ${flag}`);
    } finally {
      await world.remove();
    }
  });
});

describe('a run on this machine', () => {
  const sourcesOf = (flags: Record<string, string>, preset?: string) => ({
    ...{ env: {}, flags, typed: true },
    ...(preset === undefined ? {} : { preset }),
  });
  const fieldsOf = (flags: Record<string, string>, preset?: string) => {
    const short = shortRun(sourcesOf(flags, preset));
    if (short === null) return null;
    const { trials, durationSeconds, warmupSeconds, duet, sliceSeconds } = configure(short);
    return { trials, durationSeconds, warmupSeconds, ...(duet === 'off' ? {} : { duet, sliceSeconds }) };
  };
  const SHORT = { trials: 7, durationSeconds: 2.5, warmupSeconds: 1.5 };
  const DUET = { ...SHORT, durationSeconds: 1.5, sliceSeconds: 0.5 };

  it('is made of seven short trials', () => {
    expect(fieldsOf({})).toEqual(SHORT);
    expect(fieldsOf({}, 'quick')).toEqual(SHORT);
    // The minimum of rounds stays.
    expect(fieldsOf({ until: 'verdict' })).toEqual({ ...SHORT, trials: 3 });
  });

  it('is a duet of short slices where that is asked for', () => {
    expect(fieldsOf({ duet: 'on' })).toEqual({ ...DUET, duet: 'on' });
    expect(fieldsOf({ duet: 'auto' })).toEqual({ ...DUET, duet: 'auto' });
  });

  it.each([
    [{ warmup: '3' }, { ...SHORT, warmupSeconds: 3 }],
    [{ duration: '10' }, { ...SHORT, durationSeconds: 10 }],
    [{ trials: '3' }, { ...SHORT, trials: 3 }],
    [
      { duet: 'on', slice: '0.25' },
      { ...DUET, duet: 'on', sliceSeconds: 0.25 },
    ],
    [{ rate: '2000' }, SHORT],
    [{ rate: '2000', loader: 'builtin', openLoop: 'true' }, SHORT],
    [{ loaders: '2' }, SHORT],
    [{ answers: 'stable' }, SHORT],
    [{ servers: 'knot' }, SHORT],
    [{ servers: 'knot,nsd', tier: '0.5,1', mode: 'both' }, SHORT],
  ])('changes with a flag only as that says: %j', (flags: Record<string, string>, fields) => {
    expect(fieldsOf(flags)).toEqual(fields);
  });

  it('takes variables as it takes flags', () => {
    const short = shortRun({ env: { DINODNS_BENCH_DURATION: '10' }, flags: {} });
    expect(short === null ? null : configure(short)).toMatchObject({ ...SHORT, durationSeconds: 10 });
  });

  it('has the method of its preset or command instead, and that of a cluster there', () => {
    expect(fieldsOf({ trials: '5' }, 'blog')).toBeNull();
    expect(fieldsOf({ target: 'kubernetes' })).toBeNull();
    expect(fieldsOf({ objective: 'max-rate' })).toBeNull();
    expect(shortRun({ base: {}, env: {}, flags: {} })).toBeNull();
  });

  it.each([{}, { duet: 'on', slice: '1' }, { trials: '3', duration: '10', warmup: '2' }])(
    'is repeated by its command: %j',
    (flags: Record<string, string>) => {
      const short = shortRun(sourcesOf(flags));
      if (short === null) throw new Error('no short run');
      const words = commandFor(configure(short)).slice(3);
      const again = Object.entries(SETTINGS).flatMap(([name, { flag }]) => {
        const at = words.indexOf(flag.split(' ')[0] ?? '');
        return at < 0 ? [] : [[name, words[at + 1] ?? ''] as const];
      });
      expect(fieldsOf(Object.fromEntries(again))).toEqual(fieldsOf(flags));
    },
  );
});

describe('a flag without effect', () => {
  it.each([
    [{ slice: '2' }, '--slice: has no effect without --duet; add that, or omit it'],
    [{ maxTrials: '40' }, '--max-trials: has no effect without --until 5%; add that, or omit it'],
    [{ maxTime: '40' }, '--max-time: has no effect without --until 5%'],
    [{ maxP99: '0.01' }, '--max-p99: has no effect without --objective max-rate'],
    [{ zipfExponent: '1' }, '--zipf-exponent: has no effect without --order zipf'],
    [{ ndots: '5' }, '--ndots: has no effect without --workload lookup'],
    [{ loaderCpu: '7' }, '--loader-cpu: has no effect without --target kubernetes'],
    [{ target: 'kubernetes', cpu: 'pin' }, '--cpu: has no effect without --target local'],
  ])('is refused: %j', (flags: Record<string, string>, problem) => {
    expect(problemsOf(() => configure({ env: {}, flags, typed: true })).join('\n')).toContain(problem);
    const { target, ...others } = flags;
    // Files are for several runs.
    const file = { path: 'bench.yaml', values: others };
    const given = target === undefined ? {} : { target };
    expect(problemsOf(() => configure({ env: {}, flags: given, file, typed: true }))).toEqual([]);
  });

  it.each([
    { duet: 'on', slice: '2' },
    { until: '5%', maxTrials: '40', maxTime: '90' },
    { workload: 'lookup', ndots: '2', search: 'internal' },
    { target: 'kubernetes', loaderCpu: '7' },
    { cpu: 'pin', ip: '6' },
  ])('is one only there: %j', (flags) => {
    expect(problemsOf(() => configure({ env: {}, flags, typed: true }))).toEqual([]);
  });

  it('is not in the command that repeats a run, where a variable said so', () => {
    const env = { DINODNS_BENCH_LOADER_CPU: '7', DINODNS_BENCH_MAX_TRIALS: '40' };
    expect(commandFor(configure({ env, flags: {} })).join(' ')).not.toMatch(/loader-cpu|max-trials/);
  });
});
