/**
 * The capture of a sampler pod: runs tcpdump in the pod's own network namespace and counts what it saw. It runs from its
 * sources in the image of the built-in loader, whose reader of captures it uses.
 *
 * Settings (environment): PORT of the connections; LIMIT_SECONDS after which it ends in any case.
 * Prints one line: `capture|JSON` with a `PodCapture`, or `capture-failed|why`.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readCapture, readTcpSegments } from '@dinodns-bench/load';
import { type CaptureCounters, isListening, readCounters } from './counters.ts';
import { countHandshakes, type Handshakes } from './duplicates.ts';
import { tcpdumpArguments } from './filter.ts';
import { SHARED_DIRECTORY, SIGNALS } from './pod-signals.ts';
import { countSearches, type Searches } from './searches.ts';

/** What a capture saw of the samples of one pod. */
export interface PodCapture {
  readonly interface: string;
  readonly handshakes: Handshakes;
  readonly searches: Searches;
  readonly counters: CaptureCounters | null;
}

const FILE = join(SHARED_DIRECTORY, 'capture.pcap');
const PORT = Number(process.env.PORT);
const LIMIT_SECONDS = Number(process.env.LIMIT_SECONDS);
const POLL_MS = 50;
/** Packets that were sent are in the file by then: they are written at once. */
const SETTLE_MS = 300;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const isThere = (signal: string) => existsSync(join(SHARED_DIRECTORY, signal));
const signal = (name: string) => writeFileSync(join(SHARED_DIRECTORY, name), '');

async function until(name: string): Promise<void> {
  const deadline = performance.now() + LIMIT_SECONDS * 1000;
  while (!isThere(name) && performance.now() < deadline) await sleep(POLL_MS);
}

/** The interface of the default route; `any` where there is none. */
function defaultInterface(): string {
  const routes = readFileSync('/proc/net/route', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  return routes.find(([, destination]) => destination === '00000000')?.[0] ?? 'any';
}

async function capture(): Promise<PodCapture> {
  const name = defaultInterface();
  const errors: string[] = [];
  // Otherwise tcpdump of Debian becomes another user, who may not write here.
  const child = spawn('tcpdump', ['-Z', 'root', ...tcpdumpArguments(name, PORT)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  const file = createWriteStream(FILE);
  child.stdout.pipe(file);
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    errors.push(...text.split('\n').filter((line) => line !== ''));
    if (errors.some(isListening) && !isThere(SIGNALS.capturing)) signal(SIGNALS.capturing);
  });
  await Promise.race([ended, until(SIGNALS.sampled)]);
  if (!errors.some(isListening)) throw new Error(errors.at(-1) ?? 'tcpdump did not start');
  await sleep(SETTLE_MS);
  child.kill('SIGINT');
  await ended;
  await finished(file);
  return {
    interface: name,
    handshakes: await countHandshakes(readTcpSegments(FILE), PORT),
    searches: await countSearches(readCapture(FILE, { mayBeEmpty: true })),
    counters: readCounters(errors),
  };
}

await until(SIGNALS.prepared);
try {
  console.log(`capture|${JSON.stringify(await capture())}`);
} catch (error) {
  signal(SIGNALS.failed);
  console.log(`capture-failed|${error instanceof Error ? error.message : String(error)}`);
  // The wait for the sampler is not over.
  process.exit(1);
}
