/** The README's examples work: each command is run, for a shorter time, and the program is executed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCommand } from '../src/cli/flags.ts';
import { dnscannon } from './support/cli.ts';
import { ethernetOf, ipv4Of, pcapOf, queryFor, udpOf } from './support/frames.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

const run = promisify(execFile);
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, body]) => body ?? '');
const commands = blocks('sh')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.startsWith('npx -p @dinodns-bench/load dnscannon'));

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dnscannon-'));
});
afterAll(() => rm(directory, { recursive: true }));

const answering = () => startServer((query, reply) => reply(answerTo(query)));

it('has commands to run', () => {
  expect(commands.length).toBeGreaterThanOrEqual(4);
});

it.each(commands)('%s', async (line) => {
  const { port } = await answering();
  const args = line
    .replace(/#.*/, '')
    .replace('npx -p @dinodns-bench/load dnscannon', '')
    // As shown, except for the server, the time, and a rate that a JavaScript server can answer on a busy machine.
    .replace('127.0.0.1:5300', `127.0.0.1:${port}`)
    .replace('-d 10', '-d 0.5')
    .replace('-R 20k', '-R 200')
    .replace('--trials 5', '--trials 1 -d 0.3 --max-loss 5 -R 400 --precision 50')
    .replace('latency.hgrm', join(directory, 'latency.hgrm'))
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll("'", ''));
  const { status, stderr, stdout } = await dnscannon(args);
  // A busy machine may cross the example's threshold, or keep the generator from holding any rate.
  const busy = [
    ...(line.includes('--fail-if') ? [EXIT_STATUS.threshold] : []),
    ...(stderr.includes('not held (generator limit)') ? [EXIT_STATUS.server] : []),
  ];
  expect([EXIT_STATUS.success, ...busy], stderr).toContain(status);
  expect(stdout).not.toBe('');
});

it('shows a program that reads a capture', async () => {
  const [program = ''] = blocks('ts');
  const query = ethernetOf(ipv4Of(udpOf(queryFor('example.com'))));
  const other = ethernetOf(ipv4Of(udpOf(Buffer.alloc(4))));
  const fragment = ethernetOf(ipv4Of(udpOf(Buffer.alloc(4)), 17, { fragment: 0x2000 }));
  const frames = [query, query, fragment, query, other, other, other];
  await writeFile(
    join(directory, 'dns.pcap'),
    pcapOf(
      1,
      frames.map((frame) => ({ seconds: 1, frame })),
    ),
  );
  const file = join(directory, 'capture.ts');
  await writeFile(
    file,
    program.replace('@dinodns-bench/load', new URL('../src/index.ts', import.meta.url).href),
  );
  const { stdout } = await run(process.execPath, [file], { cwd: directory });
  const [, shown = ''] = /console\.log\(capture\.queries.*\/\/ (.*)/.exec(program) ?? [];
  expect(stdout.trim().split('\n')).toEqual([
    ...Array(3).fill('1 192.0.2.1 udp example.com A 256 false'),
    shown,
  ]);
});

it('shows a program that works', async () => {
  const { port } = await answering();
  const program = blocks('ts').at(-1) ?? '';
  const index = new URL('../src/index.ts', import.meta.url).href;
  const file = join(directory, 'example.ts');
  await writeFile(
    file,
    program
      .replace('@dinodns-bench/load', index)
      .replace('127.0.0.1:5300', `127.0.0.1:${port}`)
      .replace('rate: 1000', 'rate: 100'),
  );
  const { stdout } = await run(process.execPath, [file]);
  const lines = stdout.trim().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.at(-1)).toMatch(/^[\d.e-]+ \d+ (true|false)$/);
});

it('names only flags that exist', () => {
  const known = new Set(buildCommand().options.flatMap(({ short, long }) => [short, long]));
  const table = readme.slice(readme.indexOf('## Closed and open loop'), readme.indexOf('## As a library'));
  // Flags of node benchmarks/… and of dnsperf's own column are not ours.
  const ours = [...table.matchAll(/`(--[a-z][a-z0-9-]+)/g)].map(([, name]) => name);
  expect(ours.filter((name) => !known.has(name))).toEqual([]);
});
