/** Each reading of CPU in a swap, and what each pod of the DNS used: what the means are made of. Pure. */
import { NOTHING } from '../../report/compare/cells.ts';
import { loadersNote } from '../../report/compare/pods.ts';
import { csvText } from '../../report/csv.ts';
import { type Block, note } from '../../report/document/document.ts';
import { numbers, table } from '../../report/document/index.ts';
import { formatCount, formatFixed, formatMillicores } from '../../report/numbers.ts';
import type { Renderer } from '../../report/renderer.ts';
import { NAME_SETS, type Phase, type SwapRecord } from './evidence.ts';
import { placementsOf } from './words.ts';

/** In the order in which they were measured. */
function phasesOf(record: SwapRecord) {
  return placementsOf(record).flatMap(({ number, version, evidence: { side, phases } }) =>
    phases.map((phase) => ({ number, side, version, phase })),
  );
}

/** One line for each phase; a mean where the source gave no readings. */
export function readingsTable(record: SwapRecord) {
  return table(
    'Readings of CPU, in millicores',
    ['Placement', 'Version', 'Phase', 'Readings'],
    phasesOf(record).map(({ number, side, version, phase: { kind, observation } }) => [
      `${number} ${side}`,
      version,
      kind,
      observation === null
        ? NOTHING
        : observation.samples.length === 0
          ? `mean ${formatMillicores(observation.cpuCores)}`
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
          ...[number, side, version, kind, startedAt, atSeconds, cpuCores],
        ]),
      ),
    ),
};

function coresOf(phases: readonly Phase[], wanted: string, pod: string): string {
  const phase = phases.find(({ kind }) => kind === wanted);
  const instance = phase?.instances?.find(({ name }) => name === pod);
  const { cpuSeconds = null, cpuCores = null } = instance ?? {};
  const readSeconds = wanted === 'idle' ? (instance?.readSeconds ?? phase?.readSeconds ?? null) : null;
  const cores = cpuSeconds === null || readSeconds === null ? cpuCores : cpuSeconds / readSeconds;
  return cores === null ? NOTHING : formatMillicores(cores);
}

/** One line for each pod of each placement: a Service that prefers the loader's node gives everything to the pod there. */
export function podTable(record: SwapRecord) {
  const kinds = ['idle', ...NAME_SETS] as const;
  return table(
    'CPU of each pod',
    ['Placement', 'Version', 'Pod', 'Node', ...numbers(...kinds)],
    placementsOf(record).flatMap(({ number, version, evidence: { side, phases } }) => {
      const instances = phases.find((phase) => phase.instances !== null)?.instances ?? [];
      return instances.map(({ name, node }) => [
        ...[`${number} ${side}`, version, name, node ?? NOTHING],
        ...kinds.map((kind) => coresOf(phases, kind, name)),
      ]);
    }),
  );
}

/** One line for each load of each load generator; nothing where there was one. */
export function senderBlocks(record: SwapRecord): Block[] {
  const rows = phasesOf(record).flatMap(({ number, side, version, phase: { kind, senders = [] } }) =>
    senders.map(({ node, queriesSent, queriesCompleted, queriesLost }) => [
      ...[`${number} ${side}`, version, kind, node],
      ...[queriesSent, queriesCompleted, queriesLost].map((value) => formatCount(value)),
    ]),
  );
  if (rows.length === 0) return [];
  const columns = ['Placement', 'Version', 'Names', 'Node', ...numbers('Sent', 'Answered', 'Lost')];
  const loaders = phasesOf(record).flatMap(({ phase }) => phase.loaders ?? []);
  const overlaps = loaders.flatMap(({ overlap }) => overlap ?? []);
  const least =
    overlaps.length < loaders.length
      ? 'When each of them sent is not known for all loads: they may not have been simultaneous.'
      : `In each load they sent together for ${formatFixed(Math.min(...overlaps) * 100, 1)} % of the time or more.`;
  return [
    table('What each load generator sent', columns, rows),
    ...(loaders.length === 0 ? [] : [note(least), ...loadersNote(loaders)]),
  ];
}
