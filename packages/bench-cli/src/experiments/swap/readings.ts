/** Each reading of CPU in a swap, and what each pod of the DNS used: what the means are made of. Pure. */
import { csvText } from '../../report/csv.ts';
import { table } from '../../report/document/index.ts';
import type { Renderer } from '../../report/renderer.ts';
import { type Phase, type SwapRecord, WORKLOADS } from './record.ts';
import { millicores, NOTHING } from './words.ts';

/** In the order in which they were measured. */
function phasesOf({ placements, versions }: SwapRecord) {
  return placements.flatMap(({ number, side, phases }) =>
    phases.map((phase) => ({ number, side, version: versions[side].version, phase })),
  );
}

/** One line for each phase; a mean where the source gave no readings. */
export function readingsTable(record: SwapRecord) {
  return table(
    'Readings of CPU, in millicores',
    [{ title: 'Placement' }, { title: 'Version' }, { title: 'Phase' }, { title: 'Readings' }],
    phasesOf(record).map(({ number, side, version, phase: { kind, observation } }) => [
      `${number} ${side}`,
      version,
      kind,
      observation === null
        ? NOTHING
        : observation.samples.length === 0
          ? `mean ${millicores(observation.cpuCores)}`
          : observation.samples.map(({ cpuCores }) => (cpuCores * 1000).toFixed(1)).join(' '),
    ]),
  );
}

/** One line for each reading. */
export const readingsCsv: Renderer<SwapRecord> = {
  name: 'readings',
  fileName: 'readings.csv',
  description: 'each reading of CPU, with its time',
  render: (record) =>
    csvText(
      ['placement', 'side', 'version', 'phase', 'phase_started_at', 'at_seconds', 'cpu_cores'],
      phasesOf(record).flatMap(({ number, side, version, phase: { kind, startedAt, observation } }) =>
        (observation?.samples ?? []).map(({ atSeconds, cpuCores }) => [
          number,
          side,
          version,
          kind,
          startedAt,
          atSeconds,
          cpuCores,
        ]),
      ),
    ),
};

function coresOf(phase: Phase | undefined, pod: string): number | null {
  return phase?.instances?.find(({ name }) => name === pod)?.cpuCores ?? null;
}

/** One line for each pod of each placement: a Service that prefers the loader's node gives everything to the pod there. */
export function podTable(record: SwapRecord) {
  const shown = (cores: number | null) => (cores === null ? NOTHING : millicores(cores));
  const kinds = ['idle', ...WORKLOADS] as const;
  return table(
    'CPU of each pod',
    [
      { title: 'Placement' },
      { title: 'Version' },
      { title: 'Pod' },
      { title: 'Node' },
      ...kinds.map((title) => ({ title, isNumber: true })),
    ],
    record.placements.flatMap(({ number, side, phases }) => {
      const instances = phases.find((phase) => phase.instances !== null)?.instances ?? [];
      return instances.map(({ name, node }) => [
        `${number} ${side}`,
        record.versions[side].version,
        name,
        node ?? NOTHING,
        ...kinds.map((kind) =>
          shown(
            coresOf(
              phases.find((phase) => phase.kind === kind),
              name,
            ),
          ),
        ),
      ]);
    }),
  );
}
