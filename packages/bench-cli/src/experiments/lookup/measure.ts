/** One trial: capture, samples, counters; and what was counted. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCapture, readTcpSegments } from '@dinodns-bench/load';
import { runToEnd } from '../../process.ts';
import { fileNameOf } from '../../text.ts';
import { type Capture, startCapture } from './capture/capture.ts';
import type { CaptureCounters } from './capture/counters.ts';
import { countHandshakes } from './capture/duplicates.ts';
import { mergeCaptures } from './capture/merge.ts';
import { countSearches } from './capture/searches.ts';
import type { LookupEvidence, Packets } from './evidence.ts';
import type { LookupRequest, Place } from './place.ts';
import { portOf } from './plan.ts';
import { sampleProblem } from './sampling/sample.ts';
import {
  BUILTIN_PROGRAM,
  readSampled,
  SAMPLE_LIMIT_SECONDS,
  type Sampled,
  samplerCommand,
} from './sampling/sampler.ts';
import type { LookupSubject } from './subjects.ts';
import { evidenceOf } from './trial.ts';

/** What all trials on this machine share. */
export interface Local extends Pick<LookupRequest, 'world' | 'decided' | 'settings' | 'signal'> {
  readonly place: Place;
  /** Path of tcpdump; null for no capture. */
  readonly tcpdump: string | null;
  /** Of the run; receives what samplers print. */
  readonly rawDirectory: string;
}

/** Beyond the samples' own limits: the start of the programs. */
const GRACE_SECONDS = 20;

/** @param name Of the raw output: `3-knot`. `seconds`: 0 for a single sample. */
async function sample(
  { world, place, decided, rawDirectory, signal }: Local,
  { client }: LookupSubject,
  name: string,
  seconds: number,
): Promise<Sampled> {
  const { nodePath } = world.processes;
  const { url, paceSeconds } = decided;
  const asked = { client, seconds, paceSeconds, url: url.href };
  const command = samplerCommand(asked, nodePath, fileURLToPath(BUILTIN_PROGRAM));
  const file = join(rawDirectory, `${fileNameOf(name)}.txt`);
  const timeoutSeconds = seconds + SAMPLE_LIMIT_SECONDS + GRACE_SECONDS;
  const options = { timeoutSeconds, signal, stdoutFile: file, stderrFile: file };
  const { stdout } = await runToEnd(world, place.enter(command), options);
  signal.throwIfAborted();
  return readSampled(stdout.split('\n'));
}

async function startCaptures(
  { world, place, tcpdump, decided, rawDirectory, signal }: Local,
  open: AsyncDisposableStack,
): Promise<Capture[]> {
  const captures: Capture[] = [];
  if (tcpdump === null) return captures;
  for (const [index, tap] of place.taps.entries()) {
    const file = join(rawDirectory, `capture-${index}.pcap`);
    const asked = { executable: tcpdump, port: portOf(decided.url), file, ...tap };
    const capture = await startCapture(world, asked, signal);
    open.defer(async () => {
      await capture.stop();
      await world.fs.rm(file, { force: true });
    });
    captures.push(capture);
  }
  return captures;
}

/** Null if a capture did not say what it saw. */
async function packetsOf(
  { place, decided }: Local,
  { samples }: Sampled,
  captures: readonly Capture[],
  counters: readonly (CaptureCounters | null)[],
): Promise<Packets | null> {
  // A name may get other addresses than before the run.
  const connected = samples.flatMap((each) => (each.outcome === 'ok' ? [each.address] : []));
  const addresses = place.scope === 'machine' ? new Set([...place.addresses, ...connected]) : null;
  const seen = captures.map(async ({ file }, index) => {
    const { interface: name = '', seesQueries = true } = place.taps[index] ?? {};
    return {
      interface: name,
      handshakes: await countHandshakes(readTcpSegments(file), portOf(decided.url), addresses),
      searches: await countSearches(seesQueries ? readCapture(file, { mayBeEmpty: true }) : []),
      counters: counters[index] ?? null,
    };
  });
  const packets = mergeCaptures(await Promise.all(seen));
  const areSeen = place.taps.some(({ seesQueries }) => seesQueries);
  return packets === null || areSeen ? packets : { ...packets, searches: null };
}

/** @throws BenchError `E_TOOL_MISSING` if tcpdump cannot capture where it must */
export async function demandCapture(local: Local): Promise<void> {
  await using open = new AsyncDisposableStack();
  await startCaptures(local, open);
}

/** A sample may fail once for a reason that has gone at the next. */
const CHECK_ATTEMPTS = 3;
const TIME_LIMIT = 28;

/**
 * Takes a single sample, before the first trial: a page that cannot be reached fails every trial, in minutes.
 * @returns Why none succeeded, as in "no connection"; null if one did.
 */
export async function checkUrl(local: Local, subject: LookupSubject): Promise<string | null> {
  await using _prepared = await local.place.prepare(subject);
  let problem: string | null = null;
  for (let attempt = 1; attempt <= CHECK_ATTEMPTS; attempt += 1) {
    const { samples } = await sample(local, subject, `check-${subject.client}`, 0);
    const [taken] = samples;
    if (taken?.outcome === 'ok') return null;
    problem = sampleProblem(taken);
    // Seconds have passed: it will not be better.
    if (taken?.exitCode === TIME_LIMIT) break;
  }
  return problem;
}

/** Takes the samples between two readings of everything that counts packets. */
export async function measureTrial(
  local: Local,
  subject: LookupSubject,
  name: string,
  seconds: number,
): Promise<LookupEvidence> {
  const { place, decided } = local;
  await using _prepared = await place.prepare(subject);
  await using open = new AsyncDisposableStack();
  const captures = await startCaptures(local, open);
  const before = await place.siteRepeats();
  const sampled = await sample(local, subject, name, seconds);
  const after = await place.siteRepeats();
  const counters = await Promise.all(captures.map((capture) => capture.stop()));
  return evidenceOf({
    seconds,
    samplers: [{ ...sampled, name: place.name, node: null, isCold: false }],
    packets: await packetsOf(local, sampled, captures, counters),
    kernel: {
      syn: sampled.kernelRepeats,
      synAck: before === null || after === null ? null : after - before,
      scope: place.scope,
    },
    prediction: decided.predictions.get(subject.name) ?? null,
  });
}
