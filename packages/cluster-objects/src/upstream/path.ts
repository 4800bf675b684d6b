/** A path to a UDP server that can be lost for a time: a relay, which gives each client a socket of its own to the server. */
import { type Batch, openUdpSocket, type Peer, type UdpSocket } from '@dinodns-bench/batched-udp';

export interface Path {
  readonly address: string;
  readonly port: number;
  /** Lost: datagrams that arrive from now on are dropped in both directions. */
  lose(isLost: boolean): void;
  /** Safe to call twice. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Large for a burst after a pause of this program; the kernel may give less. */
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;

/** Datagrams in the order of their arrival, copied: a batch is valid only until its handler returns. */
const datagramsOf = (batch: Batch) =>
  Array.from({ length: batch.count }, (_, i) => {
    const start = batch.offsets[i] ?? 0;
    return { bytes: batch.bytes.slice(start, start + (batch.lengths[i] ?? 0)), peer: batch.peer(i) };
  });

/** Opens one to the server, at the same address and a port of the kernel's choice. Rejects with a `UdpError`. */
export async function openPath(server: { readonly address: string; readonly port: number }): Promise<Path> {
  const { address } = server;
  const clients = new Map<string, Promise<UdpSocket>>();
  let isLost = false;
  const toServer = (client: Peer) =>
    openUdpSocket({
      connect: server,
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      onBatch: (batch) => {
        if (isLost) return;
        for (const { bytes } of datagramsOf(batch)) near.queue(bytes, client);
        near.flush();
      },
      // A server that is not there refuses: its clients wait in vain, as behind a real path.
      onError: () => undefined,
    });
  const near: UdpSocket = await openUdpSocket({
    address,
    receiveBufferBytes: RECEIVE_BUFFER_BYTES,
    onBatch: (batch) => {
      if (isLost) return;
      for (const { bytes, peer } of datagramsOf(batch)) {
        const key = `${peer.address} ${peer.port}`;
        const socket = clients.get(key) ?? toServer(peer);
        clients.set(key, socket);
        socket.then(
          (open) => {
            open.queue(bytes);
            open.flush();
          },
          () => clients.delete(key),
        );
      }
    },
  });
  return {
    address,
    port: near.local.port,
    lose: (lost) => {
      isLost = lost;
    },
    async [Symbol.asyncDispose]() {
      await near.close();
      const opened = await Promise.allSettled(clients.values());
      await Promise.all(opened.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
    },
  };
}
