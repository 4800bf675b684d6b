/** The runs of this experiment that were made on this machine. */
import { BenchError } from '../../errors.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { type CapacityRecord, capacityKind } from './record.ts';

/** Null for a run of another experiment, or one that this version cannot read. */
async function capacityRecord(store: RunStore, id: string): Promise<CapacityRecord | null> {
  try {
    const { experiment } = await store.find(id);
    return experiment === capacityKind.experiment ? (await store.loadAs(capacityKind, id)).record : null;
  } catch (error) {
    if (error instanceof BenchError && error.code.startsWith('E_RECORD_')) return null;
    throw error;
  }
}

/** The newest first; without those of a cluster, whose figures are not this machine's. */
export async function* ownRecords(world: World, store: RunStore): AsyncGenerator<CapacityRecord> {
  for (const id of (await store.list()).toReversed()) {
    const record = await capacityRecord(store, id);
    if (record === null || record.environment.cluster !== null) continue;
    if (record.environment.hostname === world.machine.hostname) yield record;
  }
}
