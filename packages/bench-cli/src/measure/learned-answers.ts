/**
 * What is not known of a server's answers until it is asked: which of two correct codes it has for names outside its
 * zones, and with `--answers stable` every answer. The check before a trial learns it; the load must then agree.
 */
import type { Query, ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import { BenchError } from '../errors.ts';
import type { Server } from '../servers/server.ts';
import { completedBy } from '../workload/search-list.ts';
import { type BenchWorkload, type Expectation, expectedAnswer } from '../workload/workload.ts';

const keyOf = ({ name, type }: Query) => `${name} ${type}`;

/** The first code that a server gives to a query is the one that it must give again. */
function stableWorkload(workload: BenchWorkload): BenchWorkload {
  const codes = new Map<string, string>();
  return {
    ...workload,
    expectation: (query) => ({ query, code: codes.get(keyOf(query)) ?? null, records: null }),
    settle: (query, code) => {
      codes.set(keyOf(query), code);
    },
  };
}

/** The first code that a server gives to a name outside its zones is the one for all such names. */
function withUnknownZones(workload: BenchWorkload, zoneSet: ZoneSet, server: Server): BenchWorkload {
  let settled: string | undefined;
  const expectation = (query: Query): Expectation => {
    const expected = expectedAnswer(workload, zoneSet, server, query);
    if (expected.orCode === undefined || settled === undefined) return expected;
    const { orCode: _, ...rest } = expected;
    return { ...rest, code: settled };
  };
  return {
    ...workload,
    expectation,
    settle: (query, code) => {
      if (expectation(query).orCode !== undefined) settled = code;
    },
  };
}

/** A server that does not know any of the names gives a steady error, and very fast. */
const USEFUL_CODES = ['NOERROR', 'NXDOMAIN'];

/** @throws BenchError `E_WRONG_ANSWER` if a server answers every query with an error. */
export function demandUseful({ name }: Server, codes: ReadonlyMap<string, number>): void {
  if (USEFUL_CODES.some((code) => codes.has(code))) return;
  throw new BenchError(
    'E_WRONG_ANSWER',
    `${name} answers every query with ${[...codes.keys()].join(' or ')}`,
    {
      fix: 'Choose a workload with names that it serves: --workload FILE.',
    },
  );
}

/** A workload as one server answers it. */
export type ServerWorkload = (server: Server, workload: BenchWorkload) => BenchWorkload;

/** Made once for each pair of server and workload, for the whole run. */
export function onceForEach<T>(make: (server: Server, workload: BenchWorkload) => T): typeof make {
  const known = new Map<string, { readonly made: T }>();
  return (server, workload) => {
    const key = JSON.stringify([server.name, workload.name]);
    const { made } = known.get(key) ?? { made: make(server, workload) };
    known.set(key, { made });
    return made;
  };
}

export function serverWorkloads(
  zoneSet: ZoneSet,
  { answers }: Pick<RunConfiguration, 'answers'>,
): ServerWorkload {
  return onceForEach((server, workload) => {
    if (answers === 'stable') return stableWorkload(workload);
    if (server.completesSearch !== undefined) return completedBy(workload, server.completesSearch);
    return server.answersUnknownZoneWith === 'either' && workload.expectation === undefined
      ? withUnknownZones(workload, zoneSet, server)
      : workload;
  });
}
