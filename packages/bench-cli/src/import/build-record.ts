/** From the measurements in files to one imported record. Pure. */
import type { ImportedCase, ImportedRecord, ImportedTrial } from '../history/imported.ts';
import { type Importer, lostRatioOf, type Measurement, type ParsedFile } from './format.ts';

/** A file that was read. */
export interface ReadFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly parsed: ParsedFile;
}

interface Placed extends Measurement {
  readonly file: number;
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>(
    (sum, value) => (sum === null || value === null ? null : sum + value),
    0,
  );
}

/** Merges the parts of one trial: counts and rates are added, latency is weighted by completed queries. */
function mergeParts(parts: readonly Placed[]): ImportedTrial | null {
  const [first] = parts;
  if (first === undefined) return null;
  if (parts.length === 1) return { ...first.trial, file: first.file };
  const trials = parts.map(({ trial }) => trial);
  const failure = trials.find((trial) => trial.failure !== null)?.failure ?? null;
  const [sent, completed, lost] = [
    sumOf(trials.map(({ queriesSent }) => queriesSent)),
    sumOf(trials.map(({ queriesCompleted }) => queriesCompleted)),
    sumOf(trials.map(({ queriesLost }) => queriesLost)),
  ];
  const weighted = sumOf(
    trials.map(({ metrics, queriesCompleted }) =>
      metrics.latencySeconds === null || queriesCompleted === null
        ? null
        : metrics.latencySeconds * queriesCompleted,
    ),
  );
  const durations = trials.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return {
    ...first.trial,
    file: first.file,
    durationSeconds: durations.length === 0 ? null : Math.max(...durations),
    queriesSent: sent,
    queriesCompleted: completed,
    queriesLost: lost,
    responseCodes: null,
    // Percentiles of parts cannot be merged.
    latencyPercentiles: null,
    metrics: {
      ...first.trial.metrics,
      qps: sumOf(trials.map(({ metrics }) => metrics.qps)),
      latencySeconds:
        weighted === null || completed === null || completed === 0 ? null : weighted / completed,
      lostRatio: lostRatioOf(sent, lost),
    },
    failure,
  };
}

function trialsOf(placed: readonly Placed[]): ImportedTrial[] {
  const groups = Map.groupBy(placed, ({ part, file }, index) => part ?? `${file}/${index}`);
  return [...groups.values()].flatMap((parts) => mergeParts(parts) ?? []);
}

/** What tells cases of one record apart, short enough to read. */
function keysOf(groups: readonly (readonly Placed[])[], format: string, server: string | null): string[] {
  const names = groups.map(([first]) => {
    const parts = [
      server ?? first?.server ?? format,
      ...(first?.tier == null ? [] : [`tier=${first.tier}`]),
      ...(first?.workload == null ? [] : [first.workload]),
      ...(first?.transport == null ? [] : [first.transport]),
    ];
    return parts.join('/');
  });
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name}#${times}`;
  });
}

export interface RecordHead {
  readonly id: string;
  readonly generatorVersion: string;
  readonly importedAt: Date;
  /** The measured server, as given by the user. */
  readonly server: string | null;
}

/** One case for each set of parameters, its trials in the order of the files. */
export function buildRecord(
  importer: Importer,
  files: readonly ReadFile[],
  head: RecordHead,
): ImportedRecord {
  const placed = files.flatMap(({ parsed }, file) =>
    parsed.measurements.map((measurement): Placed => ({ ...measurement, file })),
  );
  const groups = [
    ...Map.groupBy(placed, ({ parameters, server, workload }) =>
      JSON.stringify([parameters, server, workload]),
    ).values(),
  ];
  const keys = keysOf(groups, importer.format, head.server);
  const cases = groups.map((group, index): ImportedCase => {
    const [first] = group;
    return {
      key: keys[index] ?? String(index),
      server: head.server ?? first?.server ?? null,
      tier: first?.tier ?? null,
      mode: null,
      workload: first?.workload ?? null,
      transport: first?.transport ?? null,
      parameters: { ...first?.parameters },
      trials: trialsOf(group),
    };
  });
  const times = cases.flatMap(({ trials }) => trials.flatMap(({ startedAt }) => startedAt ?? []));
  return {
    schemaVersion: 1,
    kind: 'imported',
    id: head.id,
    generator: { name: 'dinodns-bench', version: head.generatorVersion },
    importedAt: head.importedAt.toISOString(),
    source: {
      format: importer.format,
      version: files.map(({ parsed }) => parsed.version).find((version) => version !== null) ?? null,
      files: files.map(({ name, sizeBytes, sha256 }) => ({ name, sizeBytes, sha256 })),
      notes: [...importer.notes, ...new Set(files.flatMap(({ parsed }) => parsed.notes))],
    },
    measuredAt: times.toSorted()[0] ?? null,
    environment: Object.assign({}, ...files.map(({ parsed }) => parsed.environment)),
    cases,
  };
}
