/** The end of a socket: what the kernel has received is handled, and what is queued is sent, for at most a second. */
import { setTimeout as delay } from 'node:timers/promises';

/** How long to wait for the kernel to accept what is queued. */
const patienceMs = 1000;

/** Kernel memory of the smallest datagram, on the low side (struct sk_buff and skb_shared_info are 576 bytes). */
const smallestDatagramBytes = 512;

interface Draining {
  readonly batchSize: number;
  /** Memory of what the kernel has received when this begins, bytes. */
  readonly queuedBytes: number;
  flush(): void;
  /** Handles one batch; returns its size. */
  receiveBatch(): number;
  hasRoomForReplies(): boolean;
  /** Datagrams that wait to be sent. */
  pending(): number;
}

export async function drain(socket: Draining): Promise<void> {
  // Under load the socket is never empty; what was there at the start is bounded by the memory it used.
  let left = Math.ceil(socket.queuedBytes / smallestDatagramBytes);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    socket.flush();
    if (left > 0 && socket.hasRoomForReplies()) {
      const count = socket.receiveBatch();
      left = count < socket.batchSize ? 0 : Math.max(0, left - count);
    } else if ((left === 0 && socket.pending() === 0) || performance.now() > deadline) {
      return;
    } else {
      await delay(1);
    }
  }
}
