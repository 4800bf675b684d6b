/** `bench reproduce lookup`: the published sample beside a run. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newLookupRecord, withTrials } from '../src/experiments/lookup/new-record.ts';
import { type LookupRecord, lookupKind } from '../src/experiments/lookup/record.ts';
import type { Phases } from '../src/experiments/lookup/sampling/sample.ts';
import { readSampled } from '../src/experiments/lookup/sampling/sampler.ts';
import { isSuccessful, trialOf } from '../src/experiments/lookup/trial.ts';
import { createStore } from '../src/results/store.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld({ columns: 100 });
});
afterEach(() => world.remove());

const LINES = [
  'kernel|begin|0',
  'sample|100|0.010000|0.011000|0.012000|0.013000|192.0.2.1|40000|200|0',
  'sample|110|0.030000|0.032000|0.033000|0.034000|192.0.2.1|40001|200|0',
  'sample|120|0.020000|0.000000|0.000000|8.000000||0|000|28',
  'kernel|end|0',
];

function lookupRecord(): LookupRecord {
  const { environment } = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  const key = 'this machine';
  const record = newLookupRecord({
    id: '20261122-093000-00aa',
    argv: ['lookup'],
    startedAt: new Date('2026-11-22T09:30:00Z'),
    environment,
    warnings: [],
    target: 'machine',
    url: 'http://www.example.com/',
    durationSeconds: 1,
    paceSeconds: 0,
    rounds: 1,
    simulation: null,
    resolvConf: null,
    tools: { curl: '7.88.1', tcpdump: null },
    serverRecords: [],
    subjects: [{ key, resolver: key, client: 'curl', policy: null, conditions: {}, prediction: null }],
  });
  const sampled = readSampled(LINES);
  const trial = trialOf({
    head: { key: `${key}#0`, subject: key, round: 0, order: 0, startedAt: record.startedAt, seconds: 1 },
    samplers: [{ ...sampled, name: key, node: null, isCold: false }],
    packets: null,
    kernel: null,
  });
  const phases: Phases[] = sampled.samples.filter(isSuccessful).map((sample) => sample.phases);
  return { ...withTrials(record, [trial], new Map([[key, phases]])), status: 'complete' };
}

it('shows every published figure, and those of the run that are the same', async () => {
  await createStore(world, 'results').saveAs(lookupKind, lookupRecord());
  expect(await world.bench('reproduce', 'lookup'), world.err()).toBe(0);
  const line = (name: string) =>
    world
      .out()
      .split('\n')
      .find((text) => text.includes(name)) ?? '';
  expect(line('lookup p50')).toMatch(/23\.9 ms +10\.0 ms/);
  expect(line('connect max')).toMatch(/3\.12 ms +2\.00 ms/);
  expect(line('samples that succeeded')).toMatch(/104 +2/);
  expect(line('samples that failed')).toMatch(/0 +1/);
  expect(line('repeated SYNs')).toMatch(/0 +–/);
  expect(line('samples a minute')).toMatch(/104 +180/);
});

it('gives the figures as JSON, and as Markdown', async () => {
  await createStore(world, 'results').saveAs(lookupKind, lookupRecord());
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'json')).toBe(0);
  const { figures } = JSON.parse(world.out());
  expect(figures).toHaveLength(18);
  expect(figures[0]).toEqual({ name: 'lookup min', unit: 'seconds', published: 0.009491, ours: [0.01] });
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'markdown')).toBe(0);
  expect(world.out()).toContain('# tiger-bench dnsperf');
});

it('says what to do where there is no run', async () => {
  expect(await world.bench('reproduce', 'lookup')).not.toBe(0);
  expect(world.err()).toContain('there is no run of bench lookup');
});
