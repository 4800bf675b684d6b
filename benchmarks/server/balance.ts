/**
 * The table of packages/server-cluster/README.md, "Workers": the share of the busier of two workers, by number of clients, three
 * runs of dnsperf each.
 *
 *     pnpm exec node benchmarks/server/balance.ts [--runs 3] [--seconds 1]
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { pinned, writeQueries } from '../load/pinned.ts';

const CLIENTS = [1, 2, 5, 20];
const program = new URL('../../packages/server-cluster/src/cli.ts', import.meta.url).pathname;
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, seconds: { type: 'string', default: '1' } },
});

/** Queries of each worker over UDP, from the server's metrics. */
async function queriesOf(metricsPort: number): Promise<number[]> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const lines = text.matchAll(/^dinodns_table_hits_total\{worker="(\d)",transport="udp"\} (\d+)$/gm);
  return [...lines].map(([, , count]) => Number(count));
}

async function busierShare(balance: string, clients: number, queries: string): Promise<number> {
  const flags = [
    '--mode',
    'multi',
    '--workers',
    '2',
    '--port',
    '0',
    '--metrics-port',
    '0',
    '--balance',
    balance,
  ];
  const child = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface(child.stdout), 'line');
    const { port, metricsPort } = JSON.parse(line) as { port: number; metricsPort: number };
    const before = await queriesOf(metricsPort);
    const load = [
      '-s',
      '127.0.0.1',
      '-p',
      String(port),
      '-d',
      queries,
      '-c',
      String(clients),
      '-l',
      values.seconds,
    ];
    await pinned('1', ['dnsperf', ...load]);
    const after = await queriesOf(metricsPort);
    const counts = after.map((count, worker) => count - (before[worker] ?? 0));
    return Math.max(...counts) / counts.reduce((sum, count) => sum + count, 0);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

const directory = mkdtempSync(join(tmpdir(), 'balance-'));
try {
  const queries = writeQueries(directory);
  console.log(`| clients | ${CLIENTS.join(' | ')} |\n|---|${CLIENTS.map(() => '---|').join('')}`);
  for (const balance of ['flow', 'random']) {
    const cells: string[] = [];
    for (const clients of CLIENTS) {
      const shares: number[] = [];
      for (let run = 0; run < Number(values.runs); run++)
        shares.push(await busierShare(balance, clients, queries));
      const percent = shares.toSorted((a, b) => a - b).map((share) => (100 * share).toFixed(0));
      cells.push(percent[0] === percent.at(-1) ? `${percent[0]} %` : `${percent[0]} to ${percent.at(-1)} %`);
    }
    console.log(`| \`--balance ${balance}\` | ${cells.join(' | ')} |`);
  }
} finally {
  rmSync(directory, { recursive: true });
}
