/**
 * How long a DNS server takes from its start to its first answer, and how much CPU time: `dinodns-server` beside Knot DNS and NSD, with
 * the 100 default zones. From the workspace root:
 *
 *     pnpm exec node benchmarks/feedback/ready.ts [--rounds 10] [--zones 100] [--revision main~10]
 *
 * Each is started once before it is measured, so that what Node.js keeps of compiled code is there, and then in turns. Servers that are not
 * installed are left out. With `--revision`, the `dinodns-server` of another revision too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findProgram } from '@dinodns-bench/test-support';
import { encodeName, encodeQuery, TYPE } from '@dinodns-bench/wire';
import { defineZoneSet, findFormat, writeFiles } from '@dinodns-bench/zones';
import { freePort } from '../../packages/zones/test/support/servers.ts';
import { quantile } from '../load/pinned.ts';
import { checkOut } from '../revision.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const ASK_EVERY_MS = 2;
const WITHIN_MS = 30_000;
/** `USER_HZ` of every Linux: the unit of times in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

interface Row {
  readonly title: string;
  readonly format: string;
  readonly command: (directory: string, port: number) => readonly string[];
  readonly seconds: number[];
  readonly cpuSeconds: number[];
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    zones: { type: 'string', default: '100' },
    revision: { type: 'string' },
  },
});
const zoneSet = defineZoneSet({ to: 2 * Number(values.zones) - 1 });
const [first] = zoneSet.zones();
const question = encodeQuery({ id: 1, name: encodeName(first?.name ?? ''), type: TYPE.A });

/** Of the process and of those that it has started. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return children.reduce((sum, child) => sum + cpuSecondsOf(Number(child)), own);
}

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

async function run(row: Row): Promise<void> {
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
      row.cpuSeconds.push(cpuSecondsOf(child.pid ?? 0));
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
  for (const each of rows) await run(each);
  for (const { seconds, cpuSeconds } of rows) seconds.length = cpuSeconds.length = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const each of round % 2 === 0 ? rows : rows.toReversed()) await run(each);
  }
  console.log('| | seconds to the first answer: median, worst | CPU seconds, median |\n|---|---|---|');
  for (const { title, seconds, cpuSeconds } of rows) {
    const times = [0.5, 1].map((share) => quantile(seconds, share).toFixed(2));
    console.log(`| ${title} | ${times.join(', ')} | ${quantile(cpuSeconds, 0.5).toFixed(2)} |`);
  }
} finally {
  checkout?.remove();
}
