/** The record of a run of this experiment at its start. */

import type { Programs } from '../../measure/session.ts';
import type { Environment } from '../../results/record.ts';
import { runHead } from '../../results/run-head.ts';
import { INTERVAL_METHOD } from '../../stats/intervals.ts';
import type { World } from '../../world.ts';
import type { CapacityRecord } from './record.ts';

/** What a record says of where it was made: a part of an open machine, or what stands for it on a cluster. */
export interface RecordedMachine {
  readonly environment: Environment;
  readonly programs: Pick<Programs, 'servers' | 'provisioned'>;
  readonly session: { readonly loader: CapacityRecord['loader'] };
}

export interface NewRecord {
  readonly id: string;
  readonly argv: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly machine: RecordedMachine;
  readonly measured: CapacityRecord['measured'];
}

export function newCapacityRecord(
  world: World,
  { id, argv, settings, machine, measured }: NewRecord,
): CapacityRecord {
  const { session, programs, environment } = machine;
  return {
    schemaVersion: 1,
    experiment: 'capacity',
    id,
    ...runHead(argv, world.clock.now().toISOString()),
    environment,
    warnings: [],
    servers: programs.servers.map(({ name }) => name),
    settings: { ...settings },
    programs: [...programs.servers],
    provisioned: [...programs.provisioned],
    loader: { kind: session.loader.kind, version: session.loader.version },
    intervalMethod: INTERVAL_METHOD,
    measured,
  };
}
