/** The workload that a configuration names, and its query file. */
import { LoadError, parseQueryFile } from '@dinodns-bench/load';
import { messageOf, nearest, systemErrorCode } from '@dinodns-bench/program';
import { nameText, typeName } from '@dinodns-bench/wire';
import type { Query, ZoneSet } from '@dinodns-bench/zones';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { type BenchWorkload, NAMED_WORKLOADS } from './workload.ts';

/** The queries of a query file in dnsperf's format, as `dnscannon` reads it. */
function fileWorkload(name: string, content: Uint8Array): BenchWorkload {
  const queries: Query[] = [];
  const size = parseQueryFile(name, content, (name, type) => {
    queries.push({ name: nameText(name), type: typeName(type) });
  });
  return { name, description: `the queries of ${name}, in order`, size, queries: () => queries };
}

/**
 * A named workload, or one read from a query file.
 * @throws BenchError `E_CONFIG` if `name` is neither; LoadError `E_QUERY_FILE` with the lines that are no queries.
 */
export async function loadWorkload(
  world: Pick<World, 'fs' | 'cwd'>,
  name: string,
  zoneSet: ZoneSet,
): Promise<BenchWorkload> {
  const make = NAMED_WORKLOADS[name];
  if (make !== undefined) return make(zoneSet);
  const path = name.startsWith('/') ? name : `${world.cwd}/${name}`;
  try {
    return fileWorkload(name, await world.fs.readFile(path));
  } catch (error) {
    if (error instanceof LoadError) throw error;
    const known = Object.keys(NAMED_WORKLOADS);
    const reason = systemErrorCode(error) === 'ENOENT' ? 'no such file' : messageOf(error);
    const suggestion = nearest(name, known);
    throw new BenchError(
      'E_CONFIG',
      `--workload: "${name}" is not a workload and cannot be read as a query file (${reason})`,
      {
        fix:
          suggestion === undefined
            ? `Use one of ${known.join(', ')}, or the path of a file with a name and a type on each line.`
            : `Did you mean "${suggestion}"?`,
        cause: error,
      },
    );
  }
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
    for (const { name, type } of workload.queries()) {
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
