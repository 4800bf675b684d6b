/** Runs `bench lookup --local`, and checks what every such run must show. */
import { expect } from 'vitest';
import { okTrials } from '../../src/engine/record.ts';
import { type LookupRecord, lookupKind } from '../../src/experiments/lookup/evidence.ts';
import { overallsOf } from '../../src/experiments/lookup/overall.ts';
import { createStore } from '../../src/results/store.ts';
import type { TestWorld } from './test-world.ts';

export async function runLookup(world: TestWorld, ...argv: readonly string[]): Promise<LookupRecord> {
  expect(await world.bench('lookup', '--local', ...argv), world.err()).toBe(0);
  return (await createStore(world, 'results').loadAs(lookupKind, 'latest')).record;
}

/** What the kernel counted must be what the capture shows, in every trial. */
export function expectAgreement(record: LookupRecord): void {
  for (const { name } of record.subjects) {
    for (const { evidence } of okTrials(record, name)) {
      expect(evidence.packets?.isWhole).toBe(true);
      expect(evidence.packets?.handshakes.duplicateSyn).toBe(evidence.kernel.syn);
      expect(evidence.packets?.handshakes.duplicateSynAck).toBe(evidence.kernel.synAck);
    }
  }
  for (const { repeated } of overallsOf(record)) expect(repeated?.kernelAgrees).toBe(true);
}
