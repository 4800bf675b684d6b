/**
 * Schema version 3 makes the workload and the rate axes: `workloads` is a list, `zones` stands beside it, a case has
 * its rate. A server has a name, made of kind, version and variant; two kinds of version 2 are variants now.
 */
import { type Json, mapEntries } from './migration.ts';

/** Kinds of version 2 that became variants: their names, and what follows `+`. */
const BECAME_VARIANTS: Readonly<Record<string, { kind: string; variant: string }>> = {
  'coredns-multisocket': { kind: 'coredns', variant: 'multisocket' },
  'coredns-file': { kind: 'coredns', variant: 'file' },
};

function nameOf(value: unknown): unknown {
  const became = BECAME_VARIANTS[String(value)];
  return became === undefined ? value : `${became.kind}+${became.variant}`;
}

type Rename = (value: unknown) => unknown;

/**
 * How keys change. A key begins with the server's name; the baseline's twin of `--aa` has `(aa)` behind it. It ends with
 * the rate, if there is one; that of a trial has `#<round>` behind it.
 */
function keysWith(rate: unknown): Rename {
  const suffix = rate === undefined || rate === null ? '' : `/rate=${String(rate)}`;
  return (value) => {
    const [, server, rest, round] = /^([^(/]+)([^#]*)(#\d+)?$/.exec(String(value)) ?? [];
    return server === undefined ? value : `${String(nameOf(server))}${rest}${suffix}${round ?? ''}`;
  };
}

function migrateServer(server: Json): Json {
  const became = BECAME_VARIANTS[String(server.kind)];
  return {
    ...server,
    name: nameOf(server.kind),
    kind: became?.kind ?? server.kind,
    variant: became?.variant ?? null,
  };
}

function stepsFor(rate: unknown) {
  const key = keysWith(rate);
  const comparison = (value: Json): Json => ({ ...value, baseline: key(value.baseline) });
  return {
    servers: migrateServer,
    trials: (trial: Json): Json => ({ ...trial, key: key(trial.key), caseKey: key(trial.caseKey) }),
    cases: (item: Json): Json => {
      const outliers = Array.isArray(item.outliers) ? { outliers: item.outliers.map(key) } : {};
      const whole = { ...item, key: key(item.key), server: nameOf(item.server), ratePerSecond: rate ?? null };
      return mapEntries({ ...whole, ...outliers }, { comparison });
    },
    noiseFloors: (floor: Json): Json => mapEntries({ ...floor, caseKey: key(floor.caseKey) }, { comparison }),
    until: (until: Json): Json =>
      mapEntries(until, { widestOf: (widest) => ({ ...widest, caseKey: key(widest.caseKey) }) }),
  };
}

/** Settings that are lists now may be single values: both are read. */
function migrateConfiguration(configuration: Json): Json {
  const { servers, baseline } = configuration;
  return {
    ...configuration,
    ...(Array.isArray(servers) ? { servers: servers.map(nameOf) } : {}),
    ...(baseline === undefined ? {} : { baseline: nameOf(baseline) }),
  };
}

/** What cases call the workload; its record has only the file's name for a query file. */
function workloadNameOf(record: Json, workload: Json): unknown {
  const [first] = Array.isArray(record.cases) ? (record.cases as unknown[]) : [];
  const named =
    typeof first === 'object' && first !== null && 'workload' in first ? first.workload : undefined;
  return named ?? workload.name;
}

function configurationOf({ configuration }: Json): Json {
  return typeof configuration === 'object' && configuration !== null ? (configuration as Json) : {};
}

export function migrate2to3({ workload, ...record }: Json): Json {
  const known = typeof workload === 'object' && workload !== null ? (workload as Json) : {};
  const { zones, ...told } = known;
  const workloads = [{ ...told, name: workloadNameOf(record, told) }];
  return mapEntries(
    { ...record, baseline: nameOf(record.baseline), zones, workloads },
    { configuration: migrateConfiguration, ...stepsFor(configurationOf(record).rate) },
  );
}
