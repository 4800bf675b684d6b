/**
 * Does it make a server look cheaper if dnscannon hands the kernel runs of queries that it splits (UDP_SEGMENT)? Pairs of runs at
 * a rate that is far below saturation, with and without, in turns, against the same process: its CPU time per query. Prints a
 * Markdown table.
 *
 *     node benchmarks/load/segmentation.ts [--pairs 12] [--seconds 3] [--rate 50000] [--servers echo,dinodns,knot]
 *
 * A pair in which a query was lost does not count, and is made again, at most as often as there are pairs. The echo and the server
 * of this project request a receive buffer of 1 MiB; Knot requests none, and Linux's default holds 5.5 ms of 50,000 queries a
 * second. Where it loses queries, give it as much for this run: sysctl -w net.core.rmem_default=2097152
 */
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openUdpSocket } from '@dinodns-bench/batched-udp';
import { defineZoneSet, findFormat, writeFiles } from '@dinodns-bench/zones';
import {
  compileEcho,
  cpuSecondsOf,
  type Listening,
  quantile,
  runCannon,
  spawnOn,
  startPinned,
  writeQueries,
} from './pinned.ts';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '50000' },
    servers: { type: 'string', default: 'echo,dinodns,knot' },
    'server-core': { type: 'string', default: '0' },
    'loader-core': { type: 'string', default: '1' },
  },
});
const address = '127.0.0.1';
const core = values['server-core'];
const directory = mkdtempSync(join(tmpdir(), 'segmentation-'));
const queries = writeQueries(directory);

async function freePort(): Promise<number> {
  const socket = await openUdpSocket({ address, onBatch: () => undefined });
  await socket.close();
  return socket.local.port;
}

const START_SECONDS = 10;

async function untilItAnswers(port: number): Promise<void> {
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([`${address}:${port}`]);
  for (const end = Date.now() + START_SECONDS * 1000; ; ) {
    try {
      await resolver.resolve4('example1.com');
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(50);
    }
  }
}

async function startKnot(): Promise<Listening> {
  const port = await freePort();
  const zones = defineZoneSet({ from: 1, to: 200 });
  await writeFiles(directory, findFormat('knot').render(zones, { directory, address, port, workers: 1 }));
  const child = spawnOn(core, ['knotd', '-c', join(directory, 'knot.conf')], 'ignore');
  await untilItAnswers(port);
  return { port, child };
}

const dinodns = new URL('../../packages/server-cluster/src/cli.ts', import.meta.url).pathname;
const STARTERS: Readonly<Record<string, () => Promise<Listening>>> = {
  echo: () =>
    startPinned(
      core,
      compileEcho(directory, '../../packages/batched-udp/src/udp-echo.c', [
        '--address',
        address,
        '--port',
        '0',
      ]),
    ),
  dinodns: () => startPinned(core, [process.execPath, dinodns, '--port', '0', '--zones', '100']),
  knot: startKnot,
};

interface Run {
  readonly microseconds: number;
  readonly lost: number;
}

async function measure({ port, child }: Listening, flags: readonly string[], seconds: string): Promise<Run> {
  const pid = child.pid ?? 0;
  const load = ['-R', values.rate, '-d', seconds, '-t', '1', '-c', '20', ...flags];
  const before = cpuSecondsOf(pid);
  const { result } = await runCannon(values['loader-core'], port, queries, load);
  const { answered, lost, unsent } = result.counts;
  return { microseconds: ((cpuSecondsOf(pid) - before) / answered) * 1e6, lost: lost + unsent };
}

interface Pair {
  readonly on: Run;
  readonly off: Run;
}

/** In alternating order, so that what drifts affects both alike. */
async function measurePair(server: Listening, isOnFirst: boolean): Promise<Pair> {
  const off = ['--no-segmentation'];
  if (isOnFirst) {
    const on = await measure(server, [], values.seconds);
    return { on, off: await measure(server, off, values.seconds) };
  }
  const without = await measure(server, off, values.seconds);
  return { on: await measure(server, [], values.seconds), off: without };
}

async function pairsOf(name: string): Promise<{ pairs: readonly Pair[]; repeated: number }> {
  const start = STARTERS[name];
  if (start === undefined)
    throw new Error(`--servers: ${name}: choose from ${Object.keys(STARTERS).join(', ')}`);
  const server = await start();
  try {
    await measure(server, [], '1');
    const wanted = Number(values.pairs);
    const pairs: Pair[] = [];
    let made = 0;
    for (; pairs.length < wanted && made < 2 * wanted; made++) {
      const pair = await measurePair(server, made % 2 === 0);
      if (pair.on.lost === 0 && pair.off.lost === 0) pairs.push(pair);
      process.stderr.write(`\r${name}: pair ${made + 1}   `);
    }
    process.stderr.write('\r\u001b[K');
    return { pairs, repeated: made - pairs.length };
  } finally {
    server.child.kill();
    await once(server.child, 'exit');
  }
}

function row(name: string, { pairs, repeated }: { pairs: readonly Pair[]; repeated: number }): string {
  if (pairs.length === 0) return `| ${name} | – | – | – | – | every pair lost queries | ${repeated} |`;
  const ratios = pairs.map(({ on, off }) => on.microseconds / off.microseconds);
  const cheaper = ratios.filter((ratio) => ratio < 1).length;
  const cells = [
    name,
    quantile(
      pairs.map(({ on }) => on.microseconds),
      0.5,
    ).toFixed(2),
    quantile(
      pairs.map(({ off }) => off.microseconds),
      0.5,
    ).toFixed(2),
    quantile(ratios, 0.5).toFixed(3),
    `${quantile(ratios, 0.25).toFixed(3)}–${quantile(ratios, 0.75).toFixed(3)}`,
    `${cheaper} of ${pairs.length}`,
    repeated,
  ];
  return `| ${cells.join(' | ')} |`;
}

try {
  console.log(
    `${values.pairs} pairs of ${values.seconds} s at ${Number(values.rate).toLocaleString('en')} queries a second from 20 sockets; CPU µs per query

| server | with segmentation | without | ratio | quartiles | cheaper with it | pairs with losses |
|---|--:|--:|--:|--:|--:|--:|`,
  );
  for (const name of values.servers.split(',')) console.log(row(name, await pairsOf(name)));
} finally {
  rmSync(directory, { recursive: true });
}
