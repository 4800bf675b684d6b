/** The cost of JavaScript per datagram, without the kernel: reading a batch's headers and making its replies. */

import { loadLibc } from '../../packages/batched-udp/src/native/koffi.ts';
import { ReceiveArena } from '../../packages/batched-udp/src/native/receive-arena.ts';
import { SendQueue } from '../../packages/batched-udp/src/native/send-queue.ts';
import type { Case, Suite } from '../harness.ts';

const batchSize = 64;
const query = Buffer.from('4d2a01000001000000000000086578616d706c653103636f6d0000010001', 'hex');

async function batch(name: string, family: 4 | 6, every: number): Promise<Case> {
  const options = { family, connected: false, batchSize, slotBytes: 4096, timestamps: false } as const;
  const arena = new ReceiveArena(await loadLibc(), options);
  return {
    name,
    run(count) {
      let done = 0;
      for (; done < count; done += batchSize) {
        arena.load(batchSize);
        for (let i = 0; i < batchSize; i += every) arena.reply(i, 30);
        arena.takeReplies();
      }
      return done;
    },
  };
}

async function queue(): Promise<Case> {
  const sends = new SendQueue(await loadLibc(), {
    family: 4,
    connected: true,
    slotBytes: 4096,
    length: 1024,
    spare: batchSize,
  });
  const takeAll = (_address: number, count: number) => count;
  return {
    name: 'reserve, copy, commit',
    run(count) {
      let done = 0;
      while (done < count) {
        for (let i = 0; i < batchSize; i++) {
          const at = sends.reserve();
          sends.messages.slots.set(query, at);
          sends.commit(query.length, undefined);
        }
        done += sends.flush(takeAll);
      }
      return done;
    },
  };
}

export const handlerSuite: Suite = {
  name: 'udp-bookkeeping',
  unit: 'datagram',
  open: async () => [
    await batch('batch of 64 over IPv4, all answered', 4, 1),
    await batch('batch of 64 over IPv6, all answered', 6, 1),
    await batch('batch of 64 over IPv4, every other answered', 4, 2),
    await queue(),
  ],
};
