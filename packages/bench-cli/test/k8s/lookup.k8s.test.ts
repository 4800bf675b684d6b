/** `bench lookup --target kubernetes`: sampler pods on a real cluster, whose settings stay as they are. */
import { describe, expect, it } from 'vitest';
import { type LookupRecord, lookupKind } from '../../src/experiments/lookup/evidence.ts';
import { type Overall, overallsOf } from '../../src/experiments/lookup/overall.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
import { leftovers } from './support/admin.ts';
import { lookupSuite } from './support/lookup-suite.ts';

const { inWorld } = lookupSuite();
const lookup = ['lookup', '--target', 'kubernetes'] as const;

/** What was measured of each subject; every trial must have succeeded. */
function measured(text: string): readonly Overall[] {
  const record: LookupRecord = parseRecordAs(lookupKind, text, 'stdout');
  expect(record.settings.target).toBe('kubernetes');
  expect(record.trials.filter(({ status }) => status === 'failed')).toEqual([]);
  return overallsOf(record);
}

describe('bench lookup on a cluster', () => {
  it('compares numbers of Services, counts packets and queries as the kernel does, and leaves nothing', async () => {
    await inWorld({}, async (world) => {
      const flags = [
        '--url',
        'http://standing-svc',
        '--services',
        '0,20',
        '--duration',
        '4',
        '--trials',
        '1',
        '--json',
      ];
      expect(await world.bench(...lookup, ...flags), world.err()).toBe(0);
      const overalls = measured(world.out());
      expect(overalls.map(({ subject: { name, services } }) => [name, services])).toEqual([
        ['0 Services', 0],
        ['20 Services', 20],
      ]);
      for (const { repeated, evidence } of overalls) {
        const [trial] = evidence;
        // One a second at least: other files use the CPUs meanwhile.
        expect(trial?.samples.succeeded).toBeGreaterThan(3);
        expect(trial?.samplers[0]?.node).toBeTruthy();
        expect(trial?.samplers[0]?.first).toBeNull();
        expect(trial?.packets?.isWhole).toBe(true);
        // A SYN for each sample; A and AAAA for the one name of the search list that exists.
        expect(trial?.packets?.handshakes.syn.ipv4).toBe(
          (trial?.samples.taken ?? 0) + (trial?.packets?.handshakes.duplicateSyn ?? 0),
        );
        expect(trial?.packets?.searches?.questions.map(({ type }) => type).toSorted()).toEqual(['A', 'AAAA']);
        expect(trial?.kernel).toEqual({
          syn: trial?.packets?.handshakes.duplicateSyn,
          synAck: null,
          scope: 'namespace',
        });
        expect(repeated?.kernelAgrees).toBe(true);
      }
      expect(await leftovers()).toEqual([]);
    });
  });

  it('takes each sample in a new pod, before which nothing is asked', async () => {
    await inWorld({}, async (world) => {
      // Long enough for two pods to start, one after the other, on a node that also starts those of other files.
      const flags = ['--pod-per-sample', '--services', '3', '--duration', '30', '--trials', '1', '--json'];
      expect(await world.bench(...lookup, '--url', 'http://standing-svc', ...flags), world.err()).toBe(0);
      const [overall] = measured(world.out());
      const samplers = overall?.evidence.flatMap((trial) => trial.samplers) ?? [];
      expect(samplers.length).toBeGreaterThan(1);
      for (const { samples, first } of samplers) {
        expect(samples).toBe(1);
        expect(first?.connect).toBeGreaterThan(0);
      }
      expect(overall?.first?.lookup.n).toBe(samplers.length);
      expect(await leftovers()).toEqual([]);
    });
  });
});
