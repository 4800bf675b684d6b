/** What reports of a swap have in common. Pure. */
import type { EngineCase, OkTrial } from '../../engine/record.ts';
import { versionOf } from '../../engine/words.ts';
import type { Difference } from '../../results/record.ts';
import type { NameSet, SwapEvidence, SwapRecord } from './evidence.ts';
import { estimandName } from './figures.ts';

/** `names of the cluster`: what a load asks for. */
export function namesWords(names: NameSet): string {
  return names === 'internal' ? 'names of the cluster' : 'names outside the cluster';
}

/** Placements that were measured, in their order. */
export function placementsOf(record: SwapRecord) {
  const measured = record.trials.filter((trial): trial is OkTrial<SwapEvidence> => trial.status === 'ok');
  return measured
    .toSorted((a, b) => a.order - b.order)
    .map((trial) => ({
      ...trial,
      /** From 1. */
      number: trial.order + 1,
      version: versionOf(record, record.cases.find(({ key }) => key === trial.case)?.subject ?? trial.case),
    }));
}

/** What was said of net CPU; null where nothing may be said. */
export function netDelta({ comparison }: EngineCase, names: NameSet): Difference | null {
  const delta = comparison?.deltas[estimandName('net', names)];
  return delta != null && 'difference' in delta ? delta : null;
}
