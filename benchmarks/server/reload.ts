/**
 * What a client of a large zone notices when the server has just started, while it reloads (SIGHUP) and right afterwards: the longest
 * waits of one that asks 500 times a second for names that do not exist; and what each costs, in CPU time and peak memory of all
 * processes of the server.
 *
 *     pnpm exec node benchmarks/server/reload.ts [--names 1000000] [--signed] [--mode multi] [--revision HEAD~20]
 *
 * Each name has an address. With `--signed`, also two signatures and a denial, and the client sets DO; the signatures are dummies: the
 * server does not verify what it serves. With `--revision`, the server of another revision instead of the working tree's.
 */

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { encodeName, encodeOpt, encodeQuery, TYPE } from '@dinodns-bench/wire';
import { quantile } from '../load/pinned.ts';
import { cpuSecondsOf, forgetPeaks, mebibytes, peakBytesOf, treeOf } from '../processes.ts';
import { checkOut } from '../revision.ts';

const SECONDS_BETWEEN = 1 / 500;
const PHASE_SECONDS = 5;
const ZONE = 'large.example';
const RECORDS_PER_CHUNK = 10_000;
const POLL_MS = 20;
const DNSSEC_OK = encodeOpt({ dnssecOk: true });

const signature = (type: string) =>
  `RRSIG ${type} 13 3 60 20300101000000 20200101000000 1 ${ZONE}. AAAAAAAAAAA=`;

/** Names in canonical order, each with an address, and the denial of what comes before the next. */
function* zone(names: number, isSigned: boolean): Generator<string> {
  const label = (index: number) => `h${String(index).padStart(8, '0')}`;
  yield `$ORIGIN ${ZONE}.\n$TTL 60\n@ SOA ns admin 1 7200 3600 1209600 60\n@ NS ns.example.net.\n`;
  if (isSigned) {
    yield `@ ${signature('SOA')}\n@ ${signature('NS')}\n`;
    yield `@ NSEC ${label(0)} NS SOA RRSIG NSEC\n@ ${signature('NSEC')}\n`;
  }
  for (let start = 0; start < names; start += RECORDS_PER_CHUNK) {
    let chunk = '';
    for (let index = start; index < Math.min(names, start + RECORDS_PER_CHUNK); index++) {
      const next = index + 1 === names ? '@' : label(index + 1);
      const denial = `NSEC ${next} A RRSIG NSEC\n ${signature('NSEC')}`;
      chunk += `${label(index)} A 192.0.2.1\n${isSigned ? ` ${signature('A')}\n ${denial}\n` : ''}`;
    }
    yield chunk;
  }
}

/** Asks at its pace, whatever comes back; the seconds that each answer took, in the order asked. */
function startClient(port: number, names: number, opt: Uint8Array | null) {
  const socket = createSocket('udp4');
  const asked = new Map<number, number>();
  let waits: number[] = [];
  let [id, due] = [0, performance.now()];
  socket.on('message', (message) => {
    const key = message.readUInt16BE(0);
    const from = asked.get(key);
    if (from === undefined) return;
    asked.delete(key);
    waits.push((performance.now() - from) / 1000);
  });
  const timer = setInterval(() => {
    for (; due <= performance.now(); due += SECONDS_BETWEEN * 1000) {
      id = (id + 1) % 65536;
      const name = `h${String(Math.floor(Math.random() * names)).padStart(8, '0')}x.${ZONE}`;
      const message = encodeQuery({ id, name: encodeName(name), type: TYPE.A, opt });
      // From when it was due: a client that waits for its turn must not hide what others would have waited.
      asked.set(id, due);
      socket.send(message, port, '127.0.0.1');
    }
  }, 1);
  return {
    /** The waits since the last call, and how many are not over yet. */
    take() {
      const taken = waits;
      waits = [];
      return { waits: taken, open: asked.size };
    },
    close() {
      clearInterval(timer);
      socket.close();
    },
  };
}

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '1000000' },
    signed: { type: 'boolean', default: false },
    mode: { type: 'string', default: 'multi' },
    revision: { type: 'string' },
  },
});
const names = Number(values.names);
const directory = mkdtempSync(join(tmpdir(), 'reload-'));
const checkout = values.revision === undefined ? undefined : checkOut(values.revision);
const root = checkout?.directory ?? join(import.meta.dirname, '../..');
const file = join(directory, 'large.zone');
await pipeline(zone(names, values.signed), createWriteStream(file));

const workers = values.mode === 'multi' ? ['--workers', '1'] : [];
const started = performance.now();
const child = spawn(
  process.execPath,
  [
    ...['--conditions=@dinodns-bench/source', '--max-old-space-size=16000'],
    ...[join(root, 'packages/server-cluster/src/cli.ts'), '--mode', values.mode, ...workers, '--port', '0'],
    ...['--zone', `${ZONE}=${file}`, '--log-level', 'info'],
  ],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
try {
  let reloads = 0;
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.includes('Zones reloaded')) reloads++;
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const server = treeOf(child.pid ?? 0);
  const rows = [
    '| | seconds | CPU seconds | peak memory | queries | longest wait | p99.9 | median | without an answer |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  let [since, cpuBefore] = [started, 0];
  const cost = () => {
    const [now, cpu, peak] = [performance.now(), cpuSecondsOf(server), peakBytesOf(server)];
    const cells = [((now - since) / 1000).toFixed(1), (cpu - cpuBefore).toFixed(1), mebibytes(peak)];
    [since, cpuBefore] = [now, cpu];
    forgetPeaks(server);
    return cells.join(' | ');
  };
  rows.push(`| the start | ${cost()} | | | | | |`);
  const client = startClient(JSON.parse(line).port, names, values.signed ? DNSSEC_OK : null);
  const row = (phase: string) => {
    const { waits, open } = client.take();
    const ms = (share: number) => `${(quantile(waits, share) * 1000).toFixed(2)} ms`;
    rows.push(`| ${phase} | ${cost()} | ${waits.length} | ${ms(1)} | ${ms(0.999)} | ${ms(0.5)} | ${open} |`);
  };
  await delay(PHASE_SECONDS * 1000);
  row('after the start');
  child.kill('SIGHUP');
  while (reloads === 0) await delay(POLL_MS);
  row('during a reload');
  await delay(PHASE_SECONDS * 1000);
  row('after it');
  client.close();
  console.log(rows.join('\n'));
} finally {
  child.kill();
  await once(child, 'exit');
  checkout?.remove();
  rmSync(directory, { recursive: true });
}
