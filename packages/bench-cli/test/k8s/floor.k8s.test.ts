/** The floor on a cluster, for its names: what a Service costs with servers in C behind it, and with no DNS server at all. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OkTrial, RunRecord } from '../../src/results/record.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
import { clusterWorld, recordOf, UNOBSERVED } from './support/bench.ts';

const FLOOR = ['echo', 'knot', 'nsd'];
// DinoDNS answers these names from zone files on this machine, too: local-real-servers.servers.test.ts.
const SERVERS = ['coredns', 'coredns+file', ...FLOOR];
const ok = (record: RunRecord) => record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');

describe('echo, knot and nsd behind a Service, with CoreDNS, for the workload internal', () => {
  let world: TestWorld;
  let status: number;
  let record: RunRecord;
  beforeAll(async () => {
    world = await clusterWorld();
    const names = ['--servers', SERVERS.join(), '--workload', 'internal', '--baseline', 'echo'];
    status = await world.bench('run', ...UNOBSERVED, '--mode', 'single', ...names);
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

  it('checks the answers of CoreDNS from its API server, of the others from zone files, and those of the echo not', () => {
    expect(ok(record)).toHaveLength(SERVERS.length);
    for (const trial of ok(record)) {
      const isEcho = trial.caseKey.startsWith('echo/');
      expect(trial.checkedAnswers, trial.key).toBe(isEcho ? 0 : 1702);
      if (!isEcho) expect(Object.keys(trial.load.responseCodes), trial.key).toEqual(['NOERROR']);
    }
  });

  it('knows their versions and images, and says that the echo is no DNS server', async () => {
    for (const name of FLOOR) {
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
