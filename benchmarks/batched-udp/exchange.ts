/** A whole exchange over the loopback interface: client sends, server receives and replies, client receives. */
import { type Batch, openUdpSocket } from '@dinodns-bench/batched-udp';
import type { Case, Suite } from '../harness.ts';

const query = Buffer.from('4d2a01000001000000000000086578616d706c653103636f6d0000010001', 'hex');

function echo(batch: Batch): void {
  const { bytes, offsets, lengths, count } = batch;
  for (let i = 0; i < count; i++) {
    const flags = (offsets[i] as number) + 2;
    bytes[flags] = (bytes[flags] as number) | 0x80;
    batch.reply(i, lengths[i] as number);
  }
}

async function exchange(batchSize: number, timestamps: boolean): Promise<Case> {
  let received = 0;
  const server = await openUdpSocket({
    backend: 'native',
    address: '127.0.0.1',
    batchSize,
    timestamps,
    onBatch: echo,
  });
  const client = await openUdpSocket({
    backend: 'native',
    connect: server.local,
    batchSize,
    timestamps,
    onBatch: (batch) => {
      received += batch.count;
    },
  });
  return {
    name: `batches of ${batchSize}${timestamps ? ', with timestamps' : ''}`,
    run(count) {
      const start = received;
      while (received - start < count) {
        for (let i = 0; i < batchSize; i++) {
          client.sendBytes.set(query, client.reserve());
          client.commit(query.length);
        }
        client.flush();
        server.receive(1);
        client.receive(1);
      }
      return received - start;
    },
    async close() {
      await Promise.all([server.close(), client.close()]);
    },
  };
}

export const exchangeSuite: Suite = {
  name: 'udp-exchange',
  unit: 'exchange',
  open: async () => [
    await exchange(1, false),
    await exchange(8, false),
    await exchange(64, false),
    await exchange(64, true),
  ],
};
