/**
 * dnscannon and dnsperf against a UDP echo: one worker pinned to one core, the echo on another, in turns within one
 * run, 100 queries outstanding. Prints a Markdown table.
 *
 *     node benchmarks/load/compare.ts [--rounds 7] [--seconds 4] [--sockets 1,20] [--echo-core 0] [--loader-core 1]
 *     node benchmarks/load/compare.ts --open-loop 100000 [--seconds 10]     lateness of an open loop
 *     node benchmarks/load/compare.ts --plain-echo                           against udp-echo.c
 *     node benchmarks/load/compare.ts --memory [--seconds 600]              resident memory over time
 *
 * QPS is as each loader reports it. CPU time is that of dnsperf's process and of dnscannon's worker thread:
 * dnscannon's main thread only starts it, which takes most of a second, and then sleeps.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { CannonResult } from '@dinodns-bench/load';
import {
  CANNON,
  compileEcho,
  type Listening,
  pinned,
  quantile,
  runCannon,
  startPinned,
  writeQueries,
} from './pinned.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string' },
    sockets: { type: 'string', default: '1,20' },
    'echo-core': { type: 'string', default: '0' },
    'loader-core': { type: 'string', default: '1' },
    'open-loop': { type: 'string' },
    'plain-echo': { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
  },
});
const echoCore = values['echo-core'];
const loaderCore = values['loader-core'];
const directory = mkdtempSync(join(tmpdir(), 'load-compare-'));
const queries = writeQueries(directory);

function startEcho(): Promise<Listening> {
  const command = values['plain-echo']
    ? compileEcho(directory, '../../packages/batched-udp/src/udp-echo.c', [
        '--address',
        '127.0.0.1',
        '--port',
        '0',
      ])
    : compileEcho(directory, './segmenting-echo.c', []);
  return startPinned(echoCore, command);
}

interface Outcome {
  readonly qps: number;
  readonly completed: number;
  readonly meanSeconds: number;
  readonly cpuSeconds: number;
}

type Loader = (port: number, seconds: number) => Promise<Outcome>;

function cannonLoader(flags: readonly string[]): Loader {
  return async (port, seconds) => {
    const { result } = await runCannon(loaderCore, port, queries, [
      '-q',
      '100',
      '-d',
      String(seconds),
      ...flags,
    ]);
    const { qps, counts, latencySeconds, generator } = result;
    const cpuSeconds = generator.workers[0]?.cpuSeconds ?? Number.NaN;
    return { qps, completed: counts.answered, meanSeconds: latencySeconds?.mean ?? Number.NaN, cpuSeconds };
  };
}

function dnsperfLoader(sockets: string): Loader {
  return async (port, seconds) => {
    const { output, cpuSeconds } = await pinned(loaderCore, [
      ...['dnsperf', '-s', '127.0.0.1', '-p', String(port), '-d', queries],
      ...['-l', String(seconds), '-q', '100', '-c', sockets, '-T', '1'],
    ]);
    const number = (pattern: RegExp) => Number(output.match(pattern)?.[1]);
    return {
      qps: number(/Queries per second:\s+([\d.]+)/),
      completed: number(/Queries completed:\s+(\d+)/),
      meanSeconds: number(/Average Latency \(s\):\s+([\d.]+)/),
      cpuSeconds,
    };
  };
}

interface Entry {
  readonly name: string;
  readonly load: Loader;
  /** The name of the entry that it is compared with. */
  readonly base: string;
}

const entries: readonly Entry[] = values.sockets.split(',').flatMap((sockets) => {
  const of = (name: string) => `${name}, ${sockets} ${sockets === '1' ? 'socket' : 'sockets'}`;
  const base = of('dnsperf');
  return [
    { name: base, load: dnsperfLoader(sockets), base },
    { name: of('dnscannon'), load: cannonLoader(['-c', sockets]), base },
    {
      name: of('dnscannon --no-segmentation'),
      load: cannonLoader(['-c', sockets, '--no-segmentation']),
      base,
    },
  ];
});

async function compare(port: number, rounds: number, seconds: number): Promise<void> {
  const outcomes = new Map<string, Outcome[]>(entries.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // In alternating order, so that machine drift affects all equally.
    for (const { name, load } of round % 2 === 0 ? entries : entries.toReversed()) {
      outcomes.get(name)?.push(await load(port, seconds));
      process.stderr.write(`\rround ${round + 1} of ${rounds}: ${name}${' '.repeat(30)}`);
    }
  }
  process.stderr.write('\r\u001b[K');
  const rows = entries.map(({ name, base: baseName }) => {
    const runs = outcomes.get(name) ?? [];
    const base = outcomes.get(baseName) ?? [];
    const qps = runs.map((run) => run.qps);
    const ratios = runs.map((run, i) => run.qps / (base[i]?.qps ?? Number.NaN));
    const cpu = runs.map((run) => (run.cpuSeconds / run.completed) * 1e6);
    const mean = runs.map((run) => run.meanSeconds * 1e6);
    const whole = (value: number) => Math.round(value).toLocaleString('en');
    return `| ${name} | ${whole(quantile(qps, 0.5))} | ${whole(quantile(qps, 0.25))} to ${whole(quantile(qps, 0.75))} | ${quantile(ratios, 0.5).toFixed(2)} | ${quantile(cpu, 0.5).toFixed(2)} | ${whole(quantile(mean, 0.5))} |`;
  });
  console.log(
    [
      `${cpus()[0]?.model.trim()}, ${rounds} rounds of ${seconds} s, 100 outstanding, one core each`,
      '',
      '| loader | median QPS | quartiles | ÷ dnsperf | CPU µs per query | mean latency µs |',
      '|---|--:|--:|--:|--:|--:|',
      ...rows,
    ].join('\n'),
  );
}

/** Lateness of an open loop, second by second: the hypervisor's part of it is no fault of the generator. */
async function openLoop(port: number, rate: number, seconds: number): Promise<void> {
  const flags = ['-R', String(rate), '-d', String(seconds), '-S', '1', '-t', '1', '-c', '4'];
  const { result, intervals: all } = await runCannon(loaderCore, port, queries, flags);
  // The last one is what is left when the load has ended.
  const intervals = all.slice(0, seconds);
  const { counts, latenessSeconds, latencySeconds, generator, rates } = result;
  const us = (value = Number.NaN) => (value * 1e6).toFixed(1);
  const undisturbed = intervals.filter(({ stealSeconds }) => stealSeconds === 0);
  const p99s = undisturbed.flatMap(({ latenessSeconds: lateness }) =>
    lateness === null ? [] : [lateness.p99],
  );
  console.log(
    [
      `open loop at ${rate}/s for ${seconds} s: sent ${rates.sent.toFixed(0)}/s, unsent ${counts.unsent}, lost ${counts.lost}`,
      `lateness µs: p50 ${us(latenessSeconds?.p50)}, p99 ${us(latenessSeconds?.p99)}, p99.9 ${us(latenessSeconds?.['p99.9'])}, max ${us(latenessSeconds?.max)}`,
      `p99 of lateness in each second without steal (${p99s.length} of ${intervals.length}), µs: median ${us(quantile(p99s, 0.5))}, worst ${us(quantile(p99s, 1))}`,
      ...intervals.map(
        ({ toSeconds, latenessSeconds: lateness, stealSeconds }) =>
          `  second ${toSeconds.toFixed(0)}: p50 ${us(lateness?.p50)}, p99 ${us(lateness?.p99)}, max ${us(lateness?.max)}; steal ${stealSeconds} s`,
      ),
      `latency µs: p50 ${us(latencySeconds?.p50)}, p99 ${us(latencySeconds?.p99)}`,
      `steal ${generator.stealSeconds} s; kept from the CPU: ${generator.workers[0]?.waitedForCpuSeconds?.toFixed(3)} s; CPU ${((generator.workers[0]?.cpuShare ?? 0) * 100).toFixed(0)} %`,
    ].join('\n'),
  );
}

/** VmRSS of a process, MB. */
function residentMegabytes(pid: number): number {
  return (
    Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1] ?? Number.NaN) / 1024
  );
}

async function memory(port: number, seconds: number): Promise<void> {
  const command = ['-c', loaderCore, process.execPath, CANNON, '-w', '1', '-q', '100'];
  const child = spawn('taskset', [...command, '-d', String(seconds), '--json', `127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = text(child.stdout);
  const samples: string[] = [];
  const step = Math.max(1, seconds / 10);
  const timer = setInterval(() => samples.push(residentMegabytes(child.pid ?? 0).toFixed(0)), step * 1000);
  await once(child, 'exit');
  clearInterval(timer);
  const { counts } = JSON.parse(await output) as CannonResult;
  console.log(
    `resident memory every ${step} s, MB: ${samples.join(' ')}; ${counts.answered} queries answered`,
  );
}

const echo = await startEcho();
try {
  const { 'open-loop': rate } = values;
  if (values.memory) await memory(echo.port, Number(values.seconds ?? 600));
  else if (rate !== undefined) await openLoop(echo.port, Number(rate), Number(values.seconds ?? 10));
  else await compare(echo.port, Number(values.rounds), Number(values.seconds ?? 4));
} finally {
  echo.child.kill();
  rmSync(directory, { recursive: true });
}
