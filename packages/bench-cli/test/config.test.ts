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
import type { Setting } from '../src/config/setting.ts';
import { SETTING_NAMES, SETTINGS, variableOf } from '../src/config/settings.ts';
import { BenchError } from '../src/errors.ts';
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
      --rate: "0" must be a list of queries per second, each above 0 and at most 1e9, or max for no limit"
    `);
  });

  it.each([
    [{ baseline: 'nsd' }, '--baseline: "nsd" is not among --servers'],
    [{ threads: '30' }, '--threads: 30 threads need at least as many sockets'],
    [{ tier: '1,1' }, '--tier: 1,1 names something twice'],
    [{ outstanding: '2', threads: '4' }, '--threads: 4 threads share --outstanding 2'],
  ])('refuses settings that do not fit together: %j', (flags, expected) => {
    const problems = problemsOf(() => configure({ env: {}, flags }));
    expect(problems.join('\n')).toContain(expected);
  });

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
      'pnpm bench run --servers knot,nsd --tier 0.5 --baseline nsd --trials 5 --coredns-version 1.15.0 --no-provision',
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

  it('are all in the help of `bench run`', async () => {
    const world = await testWorld();
    try {
      await world.bench('run', '--help');
      for (const { flag } of Object.values(SETTINGS)) expect(world.out()).toContain(`  ${flag}`);
    } finally {
      await world.remove();
    }
  });
});

describe('a run of which nobody says how to measure', () => {
  const fieldsOf = (flags: Record<string, string>, preset?: string) => {
    const short = shortRun({ env: {}, flags, ...(preset === undefined ? {} : { preset }) });
    if (short === null) return null;
    const { duet, durationSeconds, sliceSeconds, trials } = configure(short);
    return [duet, durationSeconds, sliceSeconds, trials];
  };

  it('is made of seven short trials on this machine', () => {
    expect(fieldsOf({})).toEqual(['off', 2.5, 1, 7]);
    expect(fieldsOf({}, 'quick')).toEqual(['off', 2.5, 1, 7]);
    expect(fieldsOf({ servers: 'knot,nsd', tier: '0.5,1', mode: 'both' })).toEqual(['off', 2.5, 1, 7]);
    expect(fieldsOf({ servers: 'knot', aa: 'true' })).toEqual(['off', 2.5, 1, 7]);
    expect(fieldsOf({ duet: 'off' })).toEqual(['off', 2.5, 1, 7]);
    // The minimum of rounds stays.
    expect(fieldsOf({ until: 'verdict' })).toEqual(['off', 2.5, 1, 3]);
  });

  it('is a duet of short slices where that alone is asked for', () => {
    expect(fieldsOf({ duet: 'on' })).toEqual(['on', 1.5, 0.5, 7]);
    expect(fieldsOf({ duet: 'auto' })).toEqual(['auto', 1.5, 0.5, 7]);
  });

  it('is as it was where somebody does, on a cluster, and with nothing to compare', () => {
    for (const flags of [
      { duration: '10' },
      { trials: '3' },
      { warmup: '2' },
      { rate: '2000' },
      { objective: 'max-rate' },
      { target: 'kubernetes' },
      { servers: 'knot' },
    ]) {
      expect(fieldsOf(flags), JSON.stringify(flags)).toBeNull();
    }
    expect(fieldsOf({}, 'blog')).toBeNull();
    expect(shortRun({ env: { DINODNS_BENCH_DURATION: '10' }, flags: {} })).toBeNull();
    expect(shortRun({ base: {}, env: {}, flags: {} })).toBeNull();
  });

  it('is repeated by its command', () => {
    const short = shortRun({ env: {}, flags: {} });
    if (short === null) throw new Error('no short run');
    expect(commandFor(configure(short)).join(' ')).toMatch(/--duration 2\.5 --warmup 1\.5 --trials 7/);
  });
});
