#!/usr/bin/env node
/**
 * CPU time per datagram of four echo servers under dnsperf, interleaved: the C program, this project's over recvmmsg
 * and sendmmsg, waiting in the kernel or in the event loop, and the same over node:dgram. `--rate 20000` limits the
 * queries per second. Needs Linux, cc and dnsperf; with taskset and two
 * CPUs, the server has the first and dnsperf the second.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cpuSecondsOf } from '../load/pinned.ts';

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const echo = here('../../packages/batched-udp/src/udp-echo.ts');

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    rate: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const directory = mkdtempSync(join(tmpdir(), 'udp-echo-'));
const binary = join(directory, 'udp-echo');
const queries = join(directory, 'queries');

const servers: readonly { name: string; command: readonly string[] }[] = [
  { name: 'C, recvmmsg and sendmmsg', command: [binary] },
  { name: 'batched-udp, native', command: [process.execPath, echo, '--backend', 'native'] },
  {
    name: 'the same, waiting in the event loop',
    command: [process.execPath, echo, '--backend', 'native', '--wait-in', 'event-loop'],
  },
  { name: 'batched-udp, dgram', command: [process.execPath, echo, '--backend', 'dgram'] },
];

const pins = availableParallelism() > 1 && existsSync('/usr/bin/taskset');
const on = (cpu: number, command: readonly string[]) =>
  pins ? ['taskset', '-c', String(cpu), ...command] : command;

async function ask(
  port: number,
  seconds: string,
  rate?: string,
): Promise<{ completed: number; perSecond: number; lost: number }> {
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', queries, '-c', '20', '-l', seconds];
  if (rate !== undefined) args.push('-Q', rate);
  const [command = '', ...rest] = on(1, ['dnsperf', ...args]);
  const { stdout } = await run(command, rest);
  const number = (label: string) => Number(new RegExp(`${label}: +([\\d.]+)`).exec(stdout)?.[1]);
  return {
    completed: number('Queries completed'),
    perSecond: number('Queries per second'),
    lost: number('Queries lost'),
  };
}

async function trial(
  command: readonly string[],
): Promise<{ microseconds: number; perSecond: number; lost: number }> {
  const [program = '', ...args] = on(0, command);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(child.stdout, 'data');
    const { port, pid } = JSON.parse(String(line));
    await ask(port, '1');
    const before = cpuSecondsOf(pid);
    const { completed, perSecond, lost } = await ask(port, values.seconds, values.rate);
    return { microseconds: ((cpuSecondsOf(pid) - before) / completed) * 1e6, perSecond, lost };
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

try {
  await run('cc', ['-O2', '-o', binary, here('../../packages/batched-udp/src/udp-echo.c')]);
  writeFileSync(queries, Array.from({ length: 200 }, (_, i) => `example${i + 1}.com A\n`).join(''));
  const results = servers.map(() => [] as { microseconds: number; perSecond: number; lost: number }[]);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [...servers.keys()] : [...servers.keys()].reverse();
    for (const i of order) results[i]?.push(await trial(servers[i]?.command ?? []));
  }
  console.log(
    '| echo server | CPU µs/datagram | ratio to C, paired | datagrams/s | lost |\n|---|---:|---:|---:|---:|',
  );
  servers.forEach(({ name }, i) => {
    const own = results[i] ?? [];
    const ratios = own.map(
      ({ microseconds }, k) => microseconds / (results[0]?.[k]?.microseconds ?? Number.NaN),
    );
    const cells = [
      median(own.map(({ microseconds }) => microseconds)).toFixed(2),
      median(ratios).toFixed(2),
      Math.round(median(own.map(({ perSecond }) => perSecond))).toLocaleString('en'),
      own.reduce((sum, { lost }) => sum + lost, 0),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  });
} finally {
  rmSync(directory, { recursive: true });
}
