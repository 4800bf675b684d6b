/** Whatever the bytes are, the table writes only into its slot, never throws, and keeps its promises. */

import { pick, type Random, randomFrom } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { DROP, TO_FRAMEWORK } from '../../src/table/responder.ts';
import { randomQuestion } from '../compare/questions.ts';
import { storeOfZones } from '../compare/zone.ts';
import { answerTo, query } from './ask.ts';

const MESSAGES = Number(process.env.FUZZ_MESSAGES ?? 30_000);

function garbage(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random(600) }, () => random(256)));
}

function anyMessage(random: Random): Buffer {
  if (random(6) === 0) return garbage(random);
  const { message } = randomQuestion(random);
  return random(2) === 0 ? message : Buffer.concat([message, garbage(random)]);
}

test('random and damaged queries in slots of every size', () => {
  const random = randomFrom(Number(process.env.FUZZ_SEED ?? 3));
  const store = storeOfZones();
  const tables = [
    createAnswerTable(store),
    createAnswerTable(store, { outside: 'framework', maxUdpBytes: 65_535 }),
  ];
  let replies = 0;
  for (let count = 0; count < MESSAGES; count++) {
    const message = anyMessage(random);
    const capacity = message.length + pick(random, [0, 0, 1, 11, 40, 500, 2000]);
    const transport = pick(random, ['udp', 'stream'] as const);
    const reply = answerTo(pick(random, tables), message, transport, capacity);
    if (reply === DROP || reply === TO_FRAMEWORK) continue;
    replies++;
    expect(reply.readUInt16BE(0)).toBe(message.readUInt16BE(0));
    // Always a response, of the same operation, with RD as it was.
    const flags = message.readUInt16BE(2);
    const echoed = (flags & 0x7800) === 0 ? flags & 0x0100 : flags & 0x7800;
    expect(reply.readUInt16BE(2) & 0xf900).toBe(0x8000 | echoed);
    // Never RA, Z, AD or CD.
    expect(reply.readUInt16BE(2) & 0x00f0).toBe(0);
  }
  expect(replies).toBeGreaterThan(MESSAGES / 2);
});

test('a query whose name is a loop of compression pointers', () => {
  const table = createAnswerTable(storeOfZones());
  for (const pointer of [0xc000, 0xc00c, 0xc00d, 0xc0ff, 0xffff]) {
    const message = query('a.example', 'A');
    message.writeUInt16BE(pointer, 12);
    const reply = answerTo(table, message);
    expect(typeof reply === 'number' ? reply : reply.readUInt8(3) & 0xf).toBe(1);
  }
});

test('counts that exceed the message', () => {
  const table = createAnswerTable(storeOfZones());
  for (const at of [4, 6, 8, 10]) {
    const message = query('www.zone-1.bench.example', 'A');
    message.writeUInt16BE(0xffff, at);
    const reply = answerTo(table, message);
    expect(typeof reply === 'number' ? reply : reply.readUInt8(3) & 0xf).toBe(1);
  }
});

test('a slot outside of the arena is not touched', () => {
  const table = createAnswerTable(storeOfZones());
  const message = query('www.zone-1.bench.example', 'A');
  const arena = Uint8Array.from(message);
  for (const [offset, length, capacity] of [
    [-1, 20, 20],
    [0, message.length, message.length + 1],
    [0, message.length, 10],
    [message.length, 12, 12],
  ] as const) {
    expect(table.answer(arena, offset, length, capacity, 'udp')).toBe(DROP);
  }
  expect(Buffer.from(arena).equals(message)).toBe(true);
});
