/** The runs of this experiment that were made here. */
import { orNull } from '../../errors.ts';
import type { Environment } from '../../results/record.ts';
import type { RecordHeader, RecordKind } from '../../results/record-kind.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';

/** Null for a run of another experiment, or one that this version cannot read. */
async function recordOf<R>(store: RunStore, kind: RecordKind<R>, id: string): Promise<R | null> {
  const load = async () => {
    const { experiment } = await store.find(id);
    return experiment === kind.experiment ? (await store.loadAs(kind, id)).record : null;
  };
  return orNull(['E_RECORD_UNREADABLE', 'E_RECORD_FOREIGN', 'E_RECORD_VERSION'], load());
}

export type IsWanted = (environment: Environment) => boolean;

/** Without those of a cluster, whose figures are not this machine's. */
export const madeHere =
  ({ machine }: Pick<World, 'machine'>): IsWanted =>
  ({ cluster, hostname }) =>
    cluster === null && hostname === machine.hostname;

/** On the cluster whose API server has this address. */
export const madeOn =
  (server: string): IsWanted =>
  ({ cluster }) =>
    cluster?.server === server;

/** Records of a kind, the newest first. */
export async function* ownRecords<R extends Pick<RecordHeader, 'environment'>>(
  store: RunStore,
  kind: RecordKind<R>,
  isWanted: IsWanted,
): AsyncGenerator<R> {
  for (const id of (await store.list()).toReversed()) {
    const record = await recordOf(store, kind, id);
    if (record !== null && isWanted(record.environment)) yield record;
  }
}
