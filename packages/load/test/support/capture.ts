/** tcpdump on loopback: the actual packets, with the kernel's timestamps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Histogram } from '../../src/histogram/histogram.ts';

export interface Capture {
  /**
   * Ends the capture once it has `expected` answers, or after ten seconds: a capture lags behind, and packets that it has
   * not read at its end are lost. Returns the time from each query to its answer, and the kernel's count of lost packets.
   */
  stop(expected: number): Promise<{ roundTrips: Histogram; dropped: number }>;
}

/** Captures UDP to and from `port` on 127.0.0.1. */
export async function startCapture(port: number): Promise<Capture> {
  const directory = await mkdtemp(join(tmpdir(), 'dnscannon-capture-'));
  const file = join(directory, 'capture.pcap');
  const child = spawn(
    'tcpdump',
    [
      ...['-i', 'lo', '-n', '-B', '32768', '--time-stamp-precision=nano', '-s', '128', '-Z', 'root', '-U'],
      ...['-w', file, `udp port ${port}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await listening(child, () => said);
  return {
    stop: async (expected) => {
      for (const limit = Date.now() + 10_000; Date.now() < limit; ) {
        if (roundTripsOf(await readFile(file), port).total >= expected) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      const roundTrips = roundTripsOf(await readFile(file), port);
      await rm(directory, { recursive: true });
      return { roundTrips, dropped: Number(said.match(/(\d+) packets? dropped by kernel/)?.[1] ?? 0) };
    },
  };
}

async function listening(child: ChildProcess, said: () => string): Promise<void> {
  for (const limit = Date.now() + 20_000; !said().includes('listening on'); ) {
    if (Date.now() > limit || child.exitCode !== null) throw new Error(`tcpdump does not capture: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Pairs queries and answers by client port and id. Ethernet frames of IPv4, as loopback has them. */
function roundTripsOf(bytes: Buffer, port: number): Histogram {
  const ETHERNET = 14;
  const sent = new Map<number, number>();
  const histogram = new Histogram();
  if (bytes.readUInt32LE(0) !== 0xa1b23c4d) throw new Error('the capture has no nanoseconds');
  const firstSecond = bytes.readUInt32LE(24);
  for (let at = 24; at + 16 <= bytes.length; at += 16 + bytes.readUInt32LE(at + 8)) {
    // Still being written.
    if (at + 16 + bytes.readUInt32LE(at + 8) > bytes.length) break;
    const time = (bytes.readUInt32LE(at) - firstSecond) * 1e9 + bytes.readUInt32LE(at + 4);
    const ip = at + 16 + ETHERNET;
    const udp = ip + 4 * ((bytes[ip] ?? 0) & 15);
    const [from, to, id] = [udp, udp + 2, udp + 8].map((offset) => bytes.readUInt16BE(offset));
    if (from === undefined || to === undefined || id === undefined) continue;
    if (to === port) sent.set(from * 65_536 + id, time);
    const asked = from === port ? sent.get(to * 65_536 + id) : undefined;
    if (asked !== undefined) histogram.record(time - asked);
  }
  return histogram;
}
