/** The workload that a configuration names, and its query file. */
import { LoadError, parseQueryFile } from '@dinodns-bench/load/workload';
import { nearest, whyUnreadable } from '@dinodns-bench/program';
import { nameText, typeName } from '@dinodns-bench/wire';
import type { Query, ZoneSet } from '@dinodns-bench/zones';
import { BenchError } from '../errors.ts';
import { isCaptureName } from '../results/record.ts';
import type { World } from '../world.ts';
import { captureWorkload } from './capture.ts';
import {
  GENERATED_CLUSTER_WORKLOADS,
  generatedClusterLookup,
  generatedClusterWorkload,
} from './cluster-names.ts';
import { type LookupOptions, lookupWorkload } from './lookup.ts';
import { NAMED_WORKLOADS, type NamedOptions, namedWorkload } from './named.ts';
import { drawn } from './popularity.ts';
import { type BenchWorkload, sentQueries } from './workload.ts';

/** A pod's lookups of the names of the zones. */
const LOOKUP = 'lookup';

/** A zone is looked up as five names, each of which is checked before every trial. */
const MAX_LOOKED_UP = 20_000;

/** The queries of a query file in dnsperf's format, as `dnscannon` reads it. A query may be there several times. */
export function fileWorkload(name: string, content: Uint8Array): BenchWorkload {
  const queries: Query[] = [];
  const size = parseQueryFile(name, content, (name, type) => {
    queries.push({ name: nameText(name), type: typeName(type) });
  });
  const distinct = new Map(queries.map((query) => [`${query.name} ${query.type}`, query]));
  return {
    name,
    description: `the ${size} queries of ${name}, in order`,
    size: distinct.size,
    queries: () => distinct.values(),
    ...(distinct.size === size ? {} : { sequence: () => queries }),
  };
}

/** What decides the workloads of a run, besides their names. */
export interface WorkloadSettings extends NamedOptions, LookupOptions {
  readonly zoneSet: ZoneSet;
  /** 2 replays a capture twice as fast. */
  readonly captureSpeed: number;
}

function lookupOfZones(name: string, settings: WorkloadSettings): BenchWorkload {
  const names = Array.from(settings.zoneSet.zones(), (zone) => zone.name);
  if (names.length > MAX_LOOKED_UP) {
    throw new BenchError(
      'E_CONFIG',
      `--workload: ${name} takes at most ${MAX_LOOKED_UP} zones, not ${names.length}`,
      {
        fix: `Lower --zones: a lookup is several queries, and each of them is checked before the trial.`,
      },
    );
  }
  return lookupWorkload(name, names, 'the zones', settings);
}

/**
 * A named workload, a capture, or one read from a query file.
 * @throws BenchError `E_UNREADABLE` if `name` is none of them, `E_CONFIG` if it is nearly one; LoadError `E_QUERY_FILE` with the lines that are no queries, or
 * `E_PCAP`.
 */
export async function loadWorkload(
  world: Pick<World, 'fs' | 'cwd'>,
  name: string,
  settings: WorkloadSettings,
): Promise<BenchWorkload> {
  const named = namedWorkload(name, settings.zoneSet, settings);
  if (named !== null) return named;
  if (name === LOOKUP) return lookupOfZones(name, settings);
  const lookup = generatedClusterLookup(name, settings);
  if (lookup !== null) return lookup;
  const ofCluster = generatedClusterWorkload(name);
  if (ofCluster !== null) return drawn(ofCluster, settings);
  const path = name.startsWith('/') ? name : `${world.cwd}/${name}`;
  try {
    const content = isCaptureName(name) ? null : await world.fs.readFile(path);
    if (content !== null) return drawn(fileWorkload(name, content), settings);
    await world.fs.access(path);
  } catch (error) {
    throw error instanceof LoadError ? error : unknownWorkload(name, error);
  }
  return captureWorkload(name, path, settings.captureSpeed);
}

function unknownWorkload(name: string, cause: unknown): BenchError {
  const known = [...NAMED_WORKLOADS, LOOKUP, ...GENERATED_CLUSTER_WORKLOADS];
  const suggestion = nearest(name, known);
  return new BenchError(
    suggestion === undefined ? 'E_UNREADABLE' : 'E_CONFIG',
    `--workload: "${name}" is not a workload, and not a query file: it ${whyUnreadable(cause)}`,
    {
      fix:
        suggestion === undefined
          ? `Use one of ${known.join(', ')}, or the path of a capture or of a file with a name and a type on each line.`
          : `Did you mean "${suggestion}"?`,
      cause,
    },
  );
}

/** Lines in one write: few system calls, and no large string for a million zones. */
const LINES_PER_WRITE = 10_000;

/** Writes the workload as a query file, in constant memory. */
export async function writeQueryFile(
  world: Pick<World, 'fs'>,
  path: string,
  workload: BenchWorkload,
): Promise<void> {
  const file = await world.fs.open(path, 'w');
  try {
    let lines: string[] = [];
    for (const { name, type } of sentQueries(workload)) {
      lines.push(`${name} ${type}\n`);
      if (lines.length === LINES_PER_WRITE) {
        await file.write(lines.join(''));
        lines = [];
      }
    }
    await file.write(lines.join(''));
  } finally {
    await file.close();
  }
}
