/**
 * Random datagrams in random bursts against a socket whose handler answers in random and in wrong ways, over a
 * real socket. What must hold: nothing is written outside of a slot, every answer is what the handler wrote and
 * goes to whom it is for, and nothing that the handler says reaches the kernel unchecked.
 */
import { randomFrom } from '@dinodns-bench/test-support';
import { expect, it } from 'vitest';
import type { Batch } from '../src/index.ts';
import { openDescriptor } from '../src/native/descriptor.ts';
import { loadLibc } from '../src/native/koffi.ts';
import { constants } from '../src/native/layout.ts';
import { ReceiveArena } from '../src/native/receive-arena.ts';
import { settle } from '../src/options.ts';
import { open } from './support/sockets.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_260_401);
const rounds = Number(process.env.FUZZ_ROUNDS ?? 1500);

/** Small ones mostly, as DNS has them; the lengths around a slot's end; and up to the longest of IPv4. */
function randomLength(random: (below: number) => number, slotBytes: number): number {
  switch (random(6)) {
    case 0:
      return random(3);
    case 1:
      return slotBytes - 2 + random(5);
    case 2:
      return random(65_508);
    default:
      return random(600);
  }
}

const hostile = [-1, -0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 32, 2 ** 53, 65_536];

it.each([
  { slotBytes: 512, batchSize: 7, timestamps: false, backend: 'native' },
  { slotBytes: 1232, batchSize: 64, timestamps: true, backend: 'native' },
  { slotBytes: 4096, batchSize: 1, timestamps: false, backend: 'native' },
  { slotBytes: 65_535, batchSize: 3, timestamps: false, backend: 'native' },
  { slotBytes: 512, batchSize: 1, timestamps: false, backend: 'dgram' },
] as const)(
  `survives random datagrams and hostile replies: %o, seed ${seed}`,
  async ({ slotBytes, batchSize, timestamps, backend }) => {
    const random = randomFrom(seed);
    const size = 64;
    const expected = new Map<number, { length: number; first: number }>();
    const faults: string[] = [];
    let handled = 0;
    let refusedReplies = 0;

    const answer = (batch: Batch, i: number) => {
      const at = batch.offsets[i] ?? 0;
      const length = batch.lengths[i] ?? 0;
      if (length > slotBytes) faults.push(`length ${length}`);
      if (at + slotBytes > batch.bytes.length) faults.push(`slot ${i} ends outside`);
      for (const bad of [...hostile, slotBytes + 1]) {
        if (random(20) !== 0) continue;
        try {
          batch.reply(i, bad);
          faults.push(`reply of ${bad} accepted`);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          refusedReplies++;
        }
      }
      if (length >= 4 && random(4) !== 0) {
        const view = new DataView(batch.bytes.buffer, batch.bytes.byteOffset + at, 4);
        const id = view.getUint32(0);
        const replyLength = 4 + random(Math.min(slotBytes, 65_507) - 4);
        batch.bytes.fill(id & 0xff, at + 4, at + replyLength);
        expected.set(id, { length: replyLength, first: id & 0xff });
        batch.reply(i, replyLength);
      }
    };
    const server = await open({
      backend,
      address: '127.0.0.1',
      slotBytes,
      batchSize,
      timestamps,
      receiveBufferBytes: 4 << 20,
      onBatch: (batch) => {
        if (batch.count > batchSize) faults.push(`batch of ${batch.count}`);
        for (let i = 0; i < batch.count; i++) answer(batch, i);
        handled += batch.count;
      },
    });
    let answers = 0;
    const client = await open({
      backend: 'native',
      connect: server.local,
      slotBytes: 65_535,
      sendQueueLength: size,
      receiveBufferBytes: 4 << 20,
      onBatch: (batch) => {
        for (let i = 0; i < batch.count; i++) {
          const at = batch.offsets[i] ?? 0;
          const length = batch.lengths[i] ?? 0;
          const id = new DataView(batch.bytes.buffer, batch.bytes.byteOffset + at, 4).getUint32(0);
          const want = expected.get(id);
          const body = batch.bytes.subarray(at + 4, at + length);
          if (want?.length !== length || !body.every((byte) => byte === want.first))
            faults.push(`answer ${id}`);
          expected.delete(id);
          answers++;
        }
      },
    });

    let sent = 0;
    for (let round = 0; round < rounds / batchSize; round++) {
      const burst = 1 + random(Math.min(size, 2 * batchSize));
      for (let i = 0; i < burst; i++) {
        const at = client.reserve();
        const length = Math.min(randomLength(random, slotBytes), 65_507);
        for (let k = 0; k < Math.min(length, 64); k++) client.sendBytes[at + k] = random(256);
        new DataView(client.sendBytes.buffer, client.sendBytes.byteOffset + at, 4).setUint32(0, sent++);
        client.commit(length);
      }
      client.flush();
      if (backend === 'native') server.receive();
      await expect
        .poll(() => handled + (server.counters.kernelDrops ?? 0) === client.counters.sent, { interval: 1 })
        .toBe(true);
      client.receive();
    }
    await expect.poll(() => expected.size, { interval: 1 }).toBe(0);
    expect(faults).toEqual([]);
    expect(answers).toBeGreaterThan(rounds / 10);
    expect(refusedReplies).toBeGreaterThan(rounds / 20);
    expect(client.counters.sendErrors).toBe(0);
  },
);

it('writes nothing outside of the slots that it was given, whatever arrives', async () => {
  // Guards: the memory around each slot, looked at after datagrams much longer than a slot have come.
  const libc = await loadLibc();
  const arena = new ReceiveArena(libc, {
    family: 4,
    connected: false,
    batchSize: 5,
    slotBytes: 512,
    timestamps: false,
  });
  const { messages } = arena;
  const canary = 0xa5;
  messages.slots.fill(canary);
  const headersBefore = messages.words.slice(0, messages.headers.vectorWord + 5 * 4);
  const descriptor = openDescriptor(libc, settle({ address: '127.0.0.1', onBatch: () => undefined }));
  const client = await open({ backend: 'native', connect: descriptor.local, slotBytes: 65_535 });
  for (let i = 0; i < 5; i++) client.queue(new Uint8Array(65_507).fill(i));
  client.flush();
  expect(libc.recvmmsg(descriptor.fd, arena.address, 5, constants.MSG_DONTWAIT, 0)).toBeGreaterThan(0);
  descriptor.close();
  for (let i = 0; i < 5; i++) {
    const at = arena.offsets[i] ?? 0;
    const next = i < 4 ? (arena.offsets[i + 1] ?? 0) : messages.slots.length;
    expect([...new Set(messages.slots.subarray(at + 512, next))]).toEqual([canary]);
  }
  const pointers = (words: Uint32Array) =>
    Array.from({ length: 5 }, (_, i) => [...words.subarray(16 * i, 16 * i + 12)].filter((_, k) => k !== 2));
  expect(pointers(messages.words)).toEqual(pointers(headersBefore));
  expect([...messages.words.subarray(messages.headers.vectorWord, messages.headers.vectorWord + 20)]).toEqual(
    [...headersBefore.subarray(messages.headers.vectorWord)],
  );
});
