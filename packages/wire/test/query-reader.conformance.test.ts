/** The reader on the messages of BIND's fuzzing corpora, whole and cut off anywhere. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { conformanceDirectory, needs } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { expandName, IGNORE, skipName } from '../src/index.ts';
import { reading } from './support.ts';

test('no message of the corpora makes the readers throw, loop or look beyond its end', {
  ...needs('conformance data'),
  timeout: 110_000,
}, async () => {
  const path = join(conformanceDirectory(), 'bind9-fuzz-seeds.ndjson.gz');
  const lines = gunzipSync(await readFile(path))
    .toString('utf8')
    .trim()
    .split('\n');
  expect(lines.length).toBeGreaterThan(100);
  let queries = 0;
  for (const line of lines) {
    const message = Buffer.from(JSON.parse(line).base64, 'base64');
    if (message.length >= 4) message.writeUInt8(message.readUInt8(2) & 0x07, 2);
    if (reading(message).code !== IGNORE) queries++;
    for (let length = 0; length < Math.min(message.length, 100); length++)
      reading(message.subarray(0, length));
    for (let at = 0; at < Math.min(message.length, 200); at++) {
      const end = skipName(message, at);
      try {
        const { name, end: expandedEnd } = expandName(message, at);
        expect(name.length).toBeLessThanOrEqual(255);
        expect(expandedEnd).toBe(end);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
  }
  expect(queries).toBeGreaterThan(100);
});
