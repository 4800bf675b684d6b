/**
 * How long a DNS server takes from its start to its first answer, how much CPU time, and how much memory at most: `dinodns-server` beside
 * Knot DNS and NSD, with the 100 default zones or other numbers of them. From the workspace root:
 *
 *     pnpm exec node benchmarks/feedback/ready.ts [--rounds 10] [--revision main~10] [zones…]
 *
 * Each is started once before it is measured, so that what Node.js keeps of compiled code is there, and then in turns. Servers that are not
 * installed are left out. With `--revision`, the `dinodns-server` of another revision too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findProgram } from '@dinodns-bench/test-support';
import { encodeName, encodeQuery, TYPE } from '@dinodns-bench/wire';
import { defineZoneSet, findFormat, writeFiles, type ZoneSet } from '@dinodns-bench/zones';
import { freePort } from '../../packages/zones/test/support/servers.ts';
import { quantile } from '../load/pinned.ts';
import { cpuSecondsOf, mebibytes, peakBytesOf, treeOf } from '../processes.ts';
import { checkOut } from '../revision.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const ASK_EVERY_MS = 2;
/** Knot DNS takes minutes for a million zones. */
const WITHIN_MS = 30 * 60_000;

interface Row {
  readonly title: string;
  readonly format: string;
  readonly command: (directory: string, port: number) => readonly string[];
  readonly seconds: number[];
  readonly cpuSeconds: number[];
  readonly peakBytes: number[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '10' }, revision: { type: 'string' } },
});
const question = encodeQuery({ id: 1, name: encodeName('example1.com'), type: TYPE.A });

/** Resolves when the server has answered with a record. */
async function firstAnswer(port: number, child: ChildProcess): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  const asking = setInterval(() => socket.send(question, port, '127.0.0.1'), ASK_EVERY_MS);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const ended = once(child, 'exit', { signal }).then(([status]) => {
    throw new Error(`it ended with status ${status}`);
  });
  ended.catch(() => undefined);
  try {
    for (;;) {
      const [reply] = await Promise.race([once(socket, 'message', { signal }), ended]);
      if (Buffer.isBuffer(reply) && reply.readUInt16BE(6) > 0) return;
    }
  } finally {
    clearInterval(asking);
    socket.close();
  }
}

async function run(row: Row, zoneSet: ZoneSet): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ready-'));
  const port = await freePort();
  try {
    await writeFiles(directory, findFormat(row.format).render(zoneSet, { directory, port }));
    const [file = '', ...args] = row.command(directory, port);
    const start = performance.now();
    const child = spawn(file, args, { cwd: directory, stdio: 'ignore' });
    try {
      await firstAnswer(port, child);
      row.seconds.push((performance.now() - start) / 1000);
      const server = treeOf(child.pid ?? 0);
      row.cpuSeconds.push(cpuSecondsOf(server));
      row.peakBytes.push(peakBytesOf(server));
    } finally {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const checkout = values.revision === undefined ? undefined : checkOut(values.revision);
const dinodns = (root: string, more: readonly string[]) => (directory: string, port: number) => [
  process.execPath,
  '--conditions=@dinodns-bench/source',
  join(root, 'packages/server-cluster/bin/dinodns-server.js'),
  ...['--zones-file', join(directory, 'zones.ndjson'), '--port', String(port), ...more],
];
const row = (title: string, format: string, command: Row['command']): Row => ({
  title,
  format,
  command,
  seconds: [],
  cpuSeconds: [],
  peakBytes: [],
});
const rows: Row[] = [
  ['', HERE],
  ...(checkout ? [[` (${values.revision})`, checkout.directory]] : []),
].flatMap(([suffix = '', root = '']) => [
  row(`DinoDNS${suffix}`, 'dinodns-json', dinodns(root, [])),
  row(`DinoDNS, two workers${suffix}`, 'dinodns-json', dinodns(root, ['--mode', 'multi', '--workers', '2'])),
]);
const knot = findProgram('knotd');
const nsd = findProgram('nsd');
if (knot !== undefined)
  rows.push(row('Knot DNS', 'knot', (directory) => [knot, '-c', join(directory, 'knot.conf')]));
if (nsd !== undefined)
  rows.push(row('NSD', 'nsd', (directory) => [nsd, '-d', '-c', join(directory, 'nsd.conf')]));

try {
  console.log(
    '| zones | | seconds to the first answer: median, worst | CPU seconds, median | peak memory, median |',
  );
  console.log('|---|---|---|---|---|');
  for (const zones of positionals.length === 0 ? ['100'] : positionals) {
    const zoneSet = defineZoneSet({ to: 2 * Number(zones) - 1 });
    for (const each of rows) await run(each, zoneSet);
    for (const { seconds, cpuSeconds, peakBytes } of rows)
      seconds.length = cpuSeconds.length = peakBytes.length = 0;
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const each of round % 2 === 0 ? rows : rows.toReversed()) await run(each, zoneSet);
    }
    for (const { title, seconds, cpuSeconds, peakBytes } of rows) {
      const times = [0.5, 1].map((share) => quantile(seconds, share).toFixed(2)).join(', ');
      const [cpu, peak] = [quantile(cpuSeconds, 0.5).toFixed(2), mebibytes(quantile(peakBytes, 0.5))];
      console.log(`| ${Number(zones).toLocaleString('en')} | ${title} | ${times} | ${cpu} | ${peak} |`);
    }
  }
} finally {
  checkout?.remove();
}
