/** `bench lookup --target kubernetes` on two nodes: a sampler on each. */
import { expect, it } from 'vitest';
import { okTrials } from '../../src/engine/record.ts';
import { lookupKind } from '../../src/experiments/lookup/evidence.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
import { leftovers } from './support/admin.ts';
import { NODES } from './support/components.ts';
import { lookupSuite } from './support/lookup-suite.ts';

const suite = lookupSuite();

it('samples come from a pod on each node, and the packets of both are captured', async () => {
  await suite.inWorld({}, async (world) => {
    const flags = ['--url', 'http://standing-svc', '--duration', '4', '--trials', '1', '--json'];
    expect(await world.bench('lookup', '--target', 'kubernetes', ...flags), world.err()).toBe(0);
    const record = parseRecordAs(lookupKind, world.out(), 'stdout');
    const [trial, ...others] = record.cases.flatMap(({ key }) => okTrials(record, key));
    expect(others).toEqual([]);
    const { samplers = [], samples, packets } = trial?.evidence ?? {};
    expect(samplers.map(({ node }) => node).sort()).toEqual([NODES.first, NODES.second]);
    for (const { samples: taken } of samplers) expect(taken).toBeGreaterThan(3);
    expect(samples?.taken).toBe(samplers.reduce((sum, { samples: taken }) => sum + taken, 0));
    expect(packets?.isWhole).toBe(true);
    expect(packets?.handshakes.syn.ipv4).toBe(
      (samples?.taken ?? 0) + (packets?.handshakes.duplicateSyn ?? 0),
    );
    expect(record.warnings.join()).toContain('are one machine');
  });
  expect(await leftovers()).toEqual([]);
});
