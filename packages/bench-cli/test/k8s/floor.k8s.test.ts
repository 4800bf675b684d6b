/** The floor on a cluster: what a Service costs with servers in C behind it, and with no DNS server at all; also with a cluster's names. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OkTrial, RunRecord } from '../../src/results/record.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
import { clusterWorld, recordOf, SMALL, UNOBSERVED } from './support/bench.ts';

const SERVERS = ['echo', 'knot', 'nsd'];
const ok = (record: RunRecord) => record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');

describe('echo, knot and nsd behind a Service', () => {
  let world: TestWorld;
  let status: number;
  let record: RunRecord;
  beforeAll(async () => {
    world = await clusterWorld();
    status = await world.bench('run', ...UNOBSERVED, '--servers', SERVERS.join(), '--baseline', 'echo');
    record = await recordOf(world);
  });
  afterAll(() => world.remove());

  it('measures all of them', () => {
    expect(record.trials.flatMap((trial) => (trial.status === 'failed' ? [trial.failure] : []))).toEqual([]);
    expect(status, world.err()).toBe(0);
    expect(record.cases.map(({ server }) => server)).toEqual(SERVERS);
    for (const trial of ok(record)) {
      expect(trial.load.queriesCompleted, trial.key).toBeGreaterThan(100);
    }
  });

  it('checks the answers of the DNS servers, and those of the echo not', () => {
    expect(ok(record).map(({ checkedAnswers }) => checkedAnswers)).toEqual([0, 200, 200]);
  });

  it('knows their versions and images, and says that the echo is no DNS server', async () => {
    for (const name of SERVERS) {
      const server = record.servers.find((one) => one.name === name);
      expect(server?.version, name).toMatch(/^\d+\.\d+/);
      expect(server?.executable, name).toContain('dinodns-bench/');
    }
    const report = await readFile(join(world.directory, 'results', record.id, 'report.md'), 'utf8');
    expect(report.replace(/\s+/g, ' ')).toContain('Not a DNS server but an upper bound for one');
  });

  it('leaves nothing in the cluster', async () => {
    expect(await leftovers()).toEqual([]);
  });
});

describe('the workload internal', () => {
  it('is answered by CoreDNS from its API server, and by others from zone files, in one run', async () => {
    const servers = ['coredns', 'coredns+file', 'dinodns', 'echo', 'knot', 'nsd'];
    const world = await clusterWorld();
    try {
      const times = [
        '--tier',
        '500m',
        '--mode',
        'single',
        '--duration',
        '1',
        '--warmup',
        '0',
        '--trials',
        '1',
      ];
      const names = ['--servers', servers.join(), '--workload', 'internal', '--observe', 'none'];
      const status = await world.bench('run', '--target', 'kubernetes', ...names, ...times, ...SMALL);
      const record = await recordOf(world);
      expect(record.trials.flatMap((trial) => (trial.status === 'failed' ? [trial.failure] : []))).toEqual(
        [],
      );
      expect(status, world.err()).toBe(0);
      for (const trial of ok(record)) {
        const isEcho = trial.caseKey.startsWith('echo/');
        expect(trial.checkedAnswers, trial.key).toBe(isEcho ? 0 : 1702);
        expect(trial.load.queriesCompleted, trial.key).toBeGreaterThan(100);
        if (!isEcho) expect(Object.keys(trial.load.responseCodes), trial.key).toEqual(['NOERROR']);
      }
      expect(ok(record)).toHaveLength(servers.length);
      expect(await leftovers()).toEqual([]);
    } finally {
      await world.remove();
    }
  });
});
