/**
 * A million zones in constant memory, and at a third of the throughput that the README claims. Time is CPU time, so
 * that the test also holds on a busy machine.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/servers.ts';

const ZONES = 1_000_000;
/** Enough to need more than the heap if a set were built in memory. */
const FEWER_ZONES = 100_000;
const CLAIMED_ZONES_PER_SECOND = 300_000;
/** Heap limit of V8; a set built in memory would need several times as much. */
const HEAP_MEGABYTES = 32;

/** Four seconds of CPU time are more than a minute where 40 programs want two CPUs. */
const PATIENCE = { timeout: 300_000 };

const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** Runs in its own process, because of the heap limit. */
const program = `
  import { defineZoneSet, findFormat, writeFiles } from ${JSON.stringify(index)};
  const [format, directory, zones] = process.argv.slice(1);
  const zoneSet = defineZoneSet({ to: Number(zones), parity: 'all' });
  const files = findFormat(format).render(zoneSet, { directory });
  const start = process.cpuUsage();
  const written = await writeFiles(directory, files);
  const { user, system } = process.cpuUsage(start);
  const seconds = (user + system) / 1e6;
  console.log(JSON.stringify({ seconds, bytes: written.reduce((sum, { bytes }) => sum + bytes, 0) }));`;

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe.for([
  ['dinodns-json', ZONES],
  ['corefile', FEWER_ZONES],
  ['nsd', FEWER_ZONES],
  ['unbound', FEWER_ZONES],
  ['dnsmasq', FEWER_ZONES],
  ['hosts', FEWER_ZONES],
  ['dnsperf', FEWER_ZONES],
] as const)('%s, %i zones', ([format, zones]) => {
  it('are written at speed in constant memory', PATIENCE, async () => {
    const out = join(directory, format);
    const args = [
      `--max-old-space-size=${HEAP_MEGABYTES}`,
      '--input-type=module',
      '--eval',
      program,
      format,
      out,
      String(zones),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { seconds, bytes } = JSON.parse(stdout) as { seconds: number; bytes: number };
    await rm(out, { recursive: true });
    expect(bytes).toBeGreaterThan(16 * zones);
    expect(zones / seconds).toBeGreaterThan(CLAIMED_ZONES_PER_SECOND / 3);
  });
});

it('reads zones back in constant memory', PATIENCE, async () => {
  const zones = FEWER_ZONES;
  const reader = `
    import { defineZoneSet, findFormat, parseZonesJson } from ${JSON.stringify(index)};
    const [file] = findFormat('dinodns-json').render(defineZoneSet({ to: ${zones}, parity: 'all' }));
    let zones = 0;
    for await (const zone of parseZonesJson(file.chunks)) zones += zone.records.length / 3;
    console.log(zones);`;
  const args = [`--max-old-space-size=${HEAP_MEGABYTES}`, '--input-type=module', '--eval', reader];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(Number(stdout)).toBe(zones);
});
