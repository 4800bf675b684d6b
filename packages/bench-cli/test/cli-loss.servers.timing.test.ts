/** `bench loss` with a real server, through the whole CLI. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type EngineRecord, engineKind } from '../src/engine/record.ts';
import { type LossEvidence, lossEvidenceSchema } from '../src/experiments/loss/evidence.ts';
import { placesText } from '../src/report/losses.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { describe, it } = fileNeeds('coredns');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(async () => {
  await world.remove();
  for (const { process: running, command } of world.started) {
    expect(running.exit, command.join(' ')).toBeDefined();
  }
});

async function runFolder(): Promise<string> {
  const results = join(world.directory, 'results');
  const [id] = (await readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return join(results, `${id}`);
}

const { schema } = engineKind<typeof lossEvidenceSchema, unknown>('loss', lossEvidenceSchema);

async function readRecord(): Promise<EngineRecord<LossEvidence, unknown>> {
  return schema.parse(JSON.parse(await readFile(join(await runFolder(), 'run.json'), 'utf8')));
}

function demandOk({ trials: [trial] }: EngineRecord<LossEvidence, unknown>): LossEvidence {
  if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
  return trial.evidence;
}

/**
 * So small a share of a CPU that the load generator can send twice as much as the server answers. What waits in its full socket buffer is
 * then answered after 0.2 s: with a shorter time-out, these answers would be late, and nothing would be answered in time.
 */
const SHORT = [
  ...['--servers', 'coredns', '--tier', '0.1', '--zones', '20', '--trials', '1', '--warmup', '0'],
  ...['--duration', '1', '--timeout', '1', '--precision', '40%', '--bands', '0%,5%', '--overload', '2'],
];

describe('bench loss', () => {
  it('finds the rates of all bands in one search, goes beyond the limit, and says where queries were lost', async () => {
    expect(await world.bench('loss', ...SHORT), world.err()).toBe(0);
    const record = await readRecord();
    const { bands, limit, probes, recovery } = demandOk(record);
    // What others took is known, so that comparisons can allow for it.
    expect(record.trials[0]).toMatchObject({ taken: expect.any(Number) });
    const [none, few] = bands;
    expect(bands.map(({ maxLostRatio }) => maxLostRatio)).toEqual([0, 0.05]);
    expect(none?.rate).toBeGreaterThan(0);
    expect(few?.rate).toBeGreaterThanOrEqual(none?.rate ?? 0);
    expect(limit).toBe(few?.rate);
    for (const { maxLostRatio, rate } of bands) {
      const held = probes.find((probe) => probe.rate === rate);
      expect(held?.lostRatio).toBeLessThanOrEqual(maxLostRatio);
    }
    // Beyond the limit it goes on answering, but not more.
    const over = probes.find(({ rate }) => Math.abs(rate / limit - 2) < 0.01);
    expect(over?.goodput).toBeGreaterThan(limit / 2);
    // The search says no more of twice the limit: a neighbour that takes the CPU for a moment makes the limit too low.
    expect(over?.lostRatio).toBeGreaterThan(0.05);
    const shown = placesText(over?.losses?.places ?? []);
    const buffer = over?.losses?.places.find(({ place }) => place === 'server-buffer');
    expect(buffer?.queries, shown).toBeGreaterThan((over?.queriesLost ?? 0) * 0.95);
    expect(recovery?.rate).toBeCloseTo(limit / 2, 6);
    expect(recovery?.lostRatioInFirstSecond).toBeLessThanOrEqual(1);

    const [item] = record.cases;
    expect(item?.summary['rate@5%']).toMatchObject({ median: limit, n: 1 });
    for (const multiple of ['0.50', '1.00', '1.25', '1.50', '2.00'])
      expect(world.out()).toMatch(new RegExp(`^CoreDNS +${multiple.replace('.', '\\.')} `, 'm'));
    expect(world.out()).toContain('Highest rates, queries per second');
    expect(world.out()).toContain("in the server's socket buffer");
    const files = await readdir(await runFolder());
    expect(files).toEqual(expect.arrayContaining(['report.html', 'report.md', 'trials.csv', 'run.json']));
    const csv = await readFile(join(await runFolder(), 'trials.csv'), 'utf8');
    expect(csv.trim().split('\n')).toHaveLength(probes.length + 1);

    expect(await world.bench('report', 'latest', '--format', 'svg', '--to', 'charts'), world.err()).toBe(0);
    const charts = await readdir(join(world.directory, 'charts'), { recursive: true });
    for (const name of ['loss', 'p99', 'goodput']) expect(charts.join()).toContain(`${name}.svg`);
  }, 240_000);
});
