/** Every program shows the exit statuses that it has, as they are in the one list. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ERROR_CODES as CLUSTER_CODES } from '@dinodns-bench/cluster-objects';
import { ERROR_CODES as LOAD_CODES } from '@dinodns-bench/load';
import { EXIT_REASONS, EXIT_STATUS, type ExitReason, meaningOf } from '@dinodns-bench/program';
import { ERROR_CODES as SERVER_CODES } from '@dinodns-bench/server-cluster';
import { ERROR_CODES as ZONES_CODES } from '@dinodns-bench/zones';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES as BENCH_CODES } from '../src/errors.ts';

const run = promisify(execFile);

const PROGRAMS: readonly [name: string, entry: string, codes: Readonly<Record<string, ExitReason>>][] = [
  ['bench', 'bench-cli/src/main.ts', BENCH_CODES],
  ['dinodns-zones', 'zones/src/cli.ts', ZONES_CODES],
  ['dinodns-cluster', 'cluster-objects/src/cli.ts', CLUSTER_CODES],
  ['dinodns-server', 'server-cluster/src/cli.ts', SERVER_CODES],
  ['dnscannon', 'load/src/cli.ts', LOAD_CODES],
  ['udp-echo', 'batched-udp/src/udp-echo.ts', {}],
];

/** The statuses in a help text, with what it says about them. */
async function documented(entry: string): Promise<Map<number, string>> {
  const file = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  const { stdout } = await run(process.execPath, [file, '--help']);
  const [, section = ''] = /^Exit status:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
  const joined = section.replace(/\n {7}/g, ' ');
  return new Map(
    [...joined.matchAll(/^ {2}(\d+) +(.*)$/gm)].map(([, status, text = '']) => [Number(status), text]),
  );
}

describe.each(PROGRAMS)('%s --help', (_name, entry, codes) => {
  it('shows the status of each of its error codes, and none that is not in the list', async () => {
    const shown = await documented(entry);
    const needed = new Set<ExitReason>(['success', 'internal', ...Object.values(codes)]);
    for (const reason of needed) expect([...shown.keys()]).toContain(EXIT_STATUS[reason]);
    const known = new Map(EXIT_REASONS.map((reason) => [EXIT_STATUS[reason] as number, meaningOf(reason)]));
    for (const status of shown.keys()) expect(known.has(status)).toBe(true);
  });
});
