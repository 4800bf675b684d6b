/** The library: iterate, await, stop, abort; several at once; and all kinds of load against a real server. Transports: cannon-transports.servers.test.ts. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import { cannon, type Interval, LoadError } from '../src/index.ts';
import { startCoredns, type TestCoredns } from './support/coredns.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

const { it } = fileNeeds('coredns', 'openssl');

let coredns: TestCoredns;
beforeAll(async () => {
  coredns = await startCoredns();
});
afterAll(() => coredns.stop());

const base = () =>
  ({
    server: `127.0.0.1:${coredns.dnsPort}`,
    workload: { kind: 'names', names: ['example.test', 'missing.example.test'] },
  }) as const;

/** Where it does not matter how much is sent: without it, two CPUs would be busy. */
const LIGHT = { load: { kind: 'closed', outstanding: 10, maxRate: 1000 } } as const;

it('gives intervals while it runs and the result at the end, whichever is awaited first', async () => {
  const run = cannon({ ...base(), ...LIGHT, durationSeconds: 1, intervalSeconds: 0.25 });
  await run.started;
  const intervals: Interval[] = [];
  for await (const interval of run) intervals.push(interval);
  const result = await run.result;
  const again: Interval[] = [];
  for await (const interval of run) again.push(interval);
  expect(again).toEqual(intervals);
  expect(intervals.map(({ index }) => index)).toEqual(intervals.map((_, index) => index));
  expect(intervals.reduce((sum, { counts }) => sum + counts.answered, 0)).toBe(result.counts.answered);
});

it('is stopped by stop() and by an AbortSignal, with the result so far', async () => {
  const stopped = cannon({ ...base(), ...LIGHT, durationSeconds: 600 });
  await stopped.started;
  for await (const _ of stopped) break;
  stopped.stop();
  expect((await stopped.result).endedBy).toBe('stopped');

  const controller = new AbortController();
  const aborted = cannon({ ...base(), ...LIGHT, durationSeconds: 600 }, { signal: controller.signal });
  for await (const _ of aborted) break;
  controller.abort();
  const { endedBy, counts } = await aborted.result;
  expect(endedBy).toBe('stopped');
  expect(counts.answered).toBeGreaterThan(0);
});

it('rejects with the reason of a signal that was already aborted', async () => {
  const reason = new Error('not today');
  await expect(cannon(base(), { signal: AbortSignal.abort(reason) }).result).rejects.toBe(reason);
});

it('throws at once, with all problems, if options are not valid', () => {
  const wrong = () => cannon({ ...base(), durationSeconds: -1, timeoutSeconds: 0, workers: 0 });
  expect(wrong).toThrow(LoadError);
  expect(wrong).toThrow(
    expect.objectContaining({ code: 'E_OPTIONS', problems: expect.objectContaining({ length: 3 }) }),
  );
});

it('runs several loads at once without mixing them up', async () => {
  const runs = [100, 200, 300].map((maxQueries) => cannon({ ...base(), maxQueries, workers: 2 }));
  const results = await Promise.all(runs.map(({ result }) => result));
  expect(results.map(({ counts }) => counts.answered)).toEqual([100, 200, 300]);
});

it('sends the whole workload as often as requested, over all workers', async () => {
  const { port, queries } = await startServer((query, reply) => reply(answerTo(query)));
  const names = Array.from({ length: 7 }, (_, i) => `n${i}.test`);
  const { result } = cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'names', names },
    passes: 3,
    workers: 2,
    durationSeconds: 60,
  });
  expect((await result).counts).toMatchObject({ sent: 21, answered: 21 });
  const asked = new Map<string, number>();
  for (const query of queries) {
    const name = query.subarray(12).toString('latin1');
    asked.set(name, (asked.get(name) ?? 0) + 1);
  }
  expect([...asked.values()]).toEqual(names.map(() => 3));
});

it.each([
  { kind: 'constant', rate: 1000 },
  { kind: 'poisson', rate: 1000 },
  { kind: 'ramp', from: 0, to: 2000 },
  { kind: 'steps', rates: [500, 1500] },
] as const)('sends what is due in an open loop: $kind', async (load) => {
  const result = await cannon({ ...base(), load, durationSeconds: 1, workers: 2 }).result;
  const due = result.counts.sent + result.counts.unsent;
  expect(Math.abs(due - 1000)).toBeLessThanOrEqual(load.kind === 'poisson' ? 150 : 2);
  expect(result.counts.answered + result.counts.lost).toBe(result.counts.sent);
  expect(result.latenessSeconds?.count).toBe(result.counts.sent);
  expect(result.rates.offered).toBeCloseTo(1000, 0);
});

it('does not wait in an open loop: a silent server gets as many queries as one that answers', async () => {
  const { port, queries } = await startServer(() => undefined);
  const { counts } = await cannon({
    server: `127.0.0.1:${port}`,
    workload: base().workload,
    load: { kind: 'constant', rate: 1000 },
    durationSeconds: 1,
    timeoutSeconds: 0.2,
  }).result;
  expect(counts.sent + counts.unsent).toBe(1000);
  expect(counts.lost).toBe(counts.sent);
  // One more query, to find out whether it answers from another address.
  expect(queries.length).toBe(counts.sent + 1);
});

it('reports that it could not keep up with an impossible rate', async () => {
  const { counts, generator, warnings, rates } = await cannon({
    ...base(),
    load: { kind: 'constant', rate: 20e6 },
    durationSeconds: 0.3,
    timeoutSeconds: 0.5,
  }).result;
  expect(counts.sent + counts.unsent).toBe(6e6);
  expect(counts.unsent).toBeGreaterThan(0);
  expect(rates.sent).toBeLessThan(20e6);
  expect(generator.wasTheLimit).toBe(true);
  expect(warnings.join()).toContain('could not keep up with the rate');
});

it('reports its own CPU cost', async () => {
  const { generator } = await cannon({ ...base(), durationSeconds: 0.3, workers: 2 }).result;
  expect(generator.workers.length).toBe(2);
  for (const { cpuSeconds, busyShare, loopDelaySeconds } of generator.workers) {
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(busyShare).toBeGreaterThan(0);
    expect(busyShare).toBeLessThanOrEqual(1);
    expect(loopDelaySeconds.max).toBeGreaterThan(0);
  }
});

it("reports a pod's lookups from the client's side and the server's", async () => {
  const { lookups, counts, qps, latencySeconds } = await cannon({
    ...base(),
    workload: {
      kind: 'kubernetes',
      names: ['example.test'],
      clusterDomain: 'example.test',
      search: ['example.test'],
    },
    maxQueries: 50,
  }).result;
  // svc.example.test and so on do not exist; the name itself comes last, each for A and AAAA.
  expect(lookups).toMatchObject({ count: 50, found: 50, failed: 0 });
  expect(lookups?.queriesPerLookup).toBe(10);
  expect(counts.sent).toBe(500);
  expect((lookups?.rate ?? 0) * 10).toBeCloseTo(qps, 3);
  expect(lookups?.latencySeconds?.count).toBe(50);
  expect(lookups?.latencySeconds?.p50).toBeGreaterThan(latencySeconds?.p50 ?? 0);
});
