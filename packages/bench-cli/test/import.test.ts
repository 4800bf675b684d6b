/**
 * Importers. The files of dnsperf are its own output here (2.10.0, against Knot DNS on loopback); the others are written
 * after the formats' sources: run_perf.py and dnsperf's patch, tiger-bench's results.go, flame/metrics.cpp, dnspyre's
 * jsonreporter.go.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareRuns } from '../src/history/compare.ts';
import { comparedEstimand, entryOf } from '../src/history/entry.ts';
import { type ImportedRecord, importedJsonSchema, importedRecordSchema } from '../src/history/imported.ts';
import { importFiles } from '../src/import/import-files.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures/import');
const fixture = (name: string) => join(FIXTURES, name);

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('imported.schema.json', () => {
  it('is up to date (if not, run `node scripts/write-schemas.ts`), and takes what is imported', async () => {
    const text = await readFile(new URL('../imported.schema.json', import.meta.url), 'utf8');
    expect(text).toBe(importedJsonSchema());
    const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(JSON.parse(text));
    for (const file of [
      'dnsperf-rate.txt',
      'perf-tests-failed.out',
      'tiger-bench.json',
      'flamethrower.json',
    ]) {
      const { text: record } = await importFiles(world, {
        files: [fixture(file)],
        format: undefined,
        server: undefined,
      });
      expect(validate(JSON.parse(record)), JSON.stringify(validate.errors)).toBe(true);
    }
    expect(validate({ schemaVersion: 1, kind: 'imported' })).toBe(false);
  });
});

async function imported(...argv: string[]): Promise<ImportedRecord> {
  expect(await world.bench('import', '--json', ...argv), world.err()).toBe(0);
  const record = importedRecordSchema.parse(JSON.parse(world.out()));
  const file = join(world.directory, 'results', record.id, 'imported.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(record);
  return record;
}

describe('bench import', () => {
  it("takes dnsperf's text, with the time that only -S tells", async () => {
    const record = await imported(fixture('dnsperf-rate.txt'), '--server', 'knot');
    expect(record.source).toMatchObject({ format: 'dnsperf', version: '2.10.0' });
    const [item] = record.cases;
    expect(item).toMatchObject({
      server: 'knot',
      workload: 'q.txt',
      transport: 'udp',
      tier: null,
      mode: null,
    });
    const [trial] = item?.trials ?? [];
    expect(trial?.startedAt).toMatch(/^2026-11-21T12:40:34/);
    expect(trial?.metrics).toMatchObject({
      qps: expect.closeTo(2000, -1),
      lostRatio: 0,
      cpuSecondsPerQuery: null,
      memoryBytes: null,
    });
    expect(trial?.metrics.latencySeconds).toBeGreaterThan(0);
  });

  it('takes two runs of dnsperf in one file as two trials, at a time that nothing tells', async () => {
    const record = await imported(fixture('dnsperf-twice.txt'));
    expect(record.cases).toHaveLength(1);
    expect(record.cases[0]).toMatchObject({ server: null, transport: 'tcp', key: 'dnsperf/q.txt/tcp' });
    expect(record.cases[0]?.trials.map(({ startedAt, queriesSent }) => [startedAt, queriesSent])).toEqual([
      [null, 500],
      [null, 500],
    ]);
    expect(record.measuredAt).toBeNull();
  });

  it('puts the client pods of one case of perf-tests together, and knows server and CPU limit', async () => {
    const record = await imported(
      fixture('perf-tests-pod-a.out'),
      fixture('perf-tests-pod-b.out'),
      fixture('perf-tests-failed.out'),
    );
    const [item] = record.cases;
    expect(item).toMatchObject({ server: 'coredns', tier: 0.5, workload: 'service.txt', transport: 'udp' });
    expect(item?.trials.map(({ failure }) => failure)).toEqual([
      null,
      'perf-tests could not read its result: ValueError: no statistics',
    ]);
    expect(item?.trials[0]).toMatchObject({
      startedAt: '2023-11-14T22:13:20.000Z',
      queriesCompleted: 120_000,
      queriesLost: 60,
      // Of two halves of the load there are no percentiles.
      latencyPercentiles: null,
      metrics: {
        qps: 2000,
        latencySeconds: expect.closeTo(0.003, 12),
        lostRatio: 60 / 120_060,
        cpuSecondsPerQuery: null,
      },
    });
    expect(record.measuredAt).toBe('2023-11-14T22:13:20.000Z');
  });

  it('keeps the percentiles of a single pod, in seconds', async () => {
    const record = await imported(fixture('perf-tests-pod-a.out'));
    expect(record.cases[0]?.trials[0]?.latencyPercentiles).toEqual([
      { percentile: 50, seconds: 0.001 },
      { percentile: 95, seconds: 0.002 },
      { percentile: 99, seconds: 0.002 },
      { percentile: 99.5, seconds: 0.002 },
    ]);
  });

  it('takes the DNS tests of tiger-bench, which know no throughput', async () => {
    const record = await imported(fixture('tiger-bench.json'));
    expect(record.environment).toMatchObject({
      kernel: '6.8.0',
      architecture: 'amd64',
      'cluster.version': 'v1.32.0',
    });
    expect(record.source.notes.join(' ')).toContain('1 tests of other kinds are omitted');
    const [good, bad] = record.cases.flatMap(({ trials }) => trials);
    expect(good).toMatchObject({ durationSeconds: 60, failure: null });
    expect(good?.metrics).toEqual({
      qps: null,
      latencySeconds: 0.0045,
      lostRatio: null,
      cpuSecondsPerQuery: null,
      memoryBytes: null,
    });
    expect(good?.latencyPercentiles?.at(-1)).toEqual({ percentile: 99, seconds: 0.012 });
    // An empty summary is no zero.
    expect(bad).toMatchObject({ failure: 'the cluster went away', metrics: { latencySeconds: null } });
  });

  it('takes the totals of every run in a metrics file of flamethrower', async () => {
    const record = await imported(fixture('flamethrower.json'));
    expect(record.source.version).toBe('0.12.0');
    expect(record.cases).toHaveLength(1);
    const [first, second] = record.cases[0]?.trials ?? [];
    expect(first).toMatchObject({
      startedAt: '2026-11-21T10:00:00.000Z',
      queriesSent: 2000,
      queriesCompleted: 1988,
      queriesLost: 10,
      responseCodes: { NOERROR: 1000, NXDOMAIN: 988 },
      metrics: { qps: 995, latencySeconds: 0.0005, lostRatio: 0.005 },
    });
    expect(second?.metrics).toMatchObject({ latencySeconds: null, lostRatio: 1 });
  });

  it('knows the length of the first interval of dnsperf', async () => {
    const text = await readFile(fixture('dnsperf-rate.txt'), 'utf8');
    await writeFile(join(world.directory, 'ten.txt'), text.replace(/ -S 1(?= |$)/m, ' -S 10'));
    const { cases } = await imported('ten.txt');
    expect(cases[0]?.trials[0]?.startedAt).toMatch(/^2026-11-21T12:40:25/);
  });

  it('says nothing of the latency of dnspyre, which is in whole milliseconds', async () => {
    const { cases, ...record } = await imported(fixture('dnspyre.json'));
    const entry = entryOf({ ...record, cases });
    expect(entry.cases[0]?.foreign).toEqual(['latency']);
    const [item] = entry.cases;
    if (item === undefined) throw new Error('there is a case');
    const side = (latency: number) => {
      const trials = [0, 1, 2].map(() => ({ round: null, figures: { latency } }));
      return { entry, selector: {}, cases: [{ ...item, trials }] };
    };
    const estimands = [comparedEstimand('latencySeconds')];
    const { cases: compared } = compareRuns(side(0.001), side(0.002), {
      ...{ estimands, interval: 'auto', normalize: null },
    });
    expect(compared).toMatchObject([
      {
        figures: [{ delta: { verdict: 'no difference shown' } }],
        notes: ['Mean latency was recorded too coarsely to be compared.'],
      },
    ]);
  });

  it('does not take the zeros of dnspyre for latencies, nor requests for answers', async () => {
    const record = await imported(fixture('dnspyre.json'));
    const [trial] = record.cases[0]?.trials ?? [];
    expect(trial?.metrics).toMatchObject({ qps: 495, latencySeconds: null, lostRatio: 0.01 });
    expect(trial?.latencyPercentiles).toEqual([
      { percentile: 90, seconds: 0.001 },
      { percentile: 95, seconds: 0.002 },
      { percentile: 99, seconds: 0.004 },
    ]);
  });

  it('can be compared with a measurement of another program', async () => {
    expect(await world.bench('import', fixture('dnsperf-twice.txt'), '--server', 'knot')).toBe(0);
    expect(await world.bench('import', fixture('flamethrower.json'), '--server', 'knot')).toBe(0);
    const [first, second] = (await readdir(join(world.directory, 'results'))).filter((name) =>
      /^\d{8}-/.test(name),
    );
    const before = world.out().length;
    expect(await world.bench('compare', `${first}`, `${second}`, '--metric', 'qps,latency')).toBe(0);
    const text = world.out().slice(before);
    expect(text).toContain('their trials are not paired');
    expect(text).toMatch(
      /loader: dnsperf 2\.10\.0 → flamethrower 0\.12\.0|loader: flamethrower 0\.12\.0 → dnsperf/,
    );
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('leaves no run that could be reported on, and says what can be done instead', async () => {
    const { id } = await imported(fixture('dnspyre.json'));
    expect(await world.bench('report', id)).toBe(6);
    expect(world.err()).toContain('is a measurement of another program');
    expect(world.err()).toContain('bench compare');
  });

  it.each<[string, string[], number, string, string]>([
    ['no such file', ['nowhere.txt'], 6, 'nowhere.txt does not exist', 'a file that you can read'],
    ['a file of no known format', ['notes.txt'], 6, 'not in any format that bench can import', '--format'],
    ['an unknown format', ['notes.txt', '--format', 'dnsprf'], 2, '"dnsprf"', 'Did you mean "dnsperf"'],
    [
      'another format than it is',
      ['notes.txt', '--format', 'dnspyre'],
      6,
      'cannot be read as dnspyre',
      'complete',
    ],
    [
      'files of several formats',
      [fixture('dnspyre.json'), fixture('dnsperf-twice.txt')],
      2,
      'several formats: dnspyre, dnsperf',
      'separately',
    ],
    [
      'a file twice',
      [fixture('dnspyre.json'), fixture('dnspyre.json')],
      2,
      'dnspyre.json has the same content as dnspyre.json',
      'once',
    ],
    [
      'half a file',
      ['half.json'],
      6,
      'half.json cannot be read as flamethrower: line 2 is not JSON',
      'complete',
    ],
  ])('explains %s', async (_what, argv, status, problem, fix) => {
    await writeFile(join(world.directory, 'notes.txt'), 'some notes\n');
    const whole = await readFile(fixture('flamethrower.json'), 'utf8');
    await writeFile(join(world.directory, 'half.json'), whole.slice(0, 400));
    expect(await world.bench('import', ...argv)).toBe(status);
    expect(world.err()).toContain(problem);
    expect(world.err()).toContain(fix);
    expect(world.out()).toBe('');
    expect(await readdir(world.directory)).not.toContain('results');
  });
});
