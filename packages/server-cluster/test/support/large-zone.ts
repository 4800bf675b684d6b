/** A zones file with one name that has 100 addresses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
import { onTestFinished } from 'vitest';

/** `big1.example`; the file is gone after the test. */
export async function largeZone(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'server-cluster-tcp-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const records = Array.from({ length: 100 }, (_, index) => `60 A 192.0.2.${index}`);
  const zoneSet = defineZoneSet({ pattern: 'big{X}.example', from: 1, to: 1, records });
  const [rendered] = findFormat('dinodns-json').render(zoneSet);
  const file = join(directory, 'zones.ndjson');
  await writeFile(file, [...(rendered?.chunks ?? [])].join(''));
  return file;
}
