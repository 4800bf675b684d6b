/**
 * Buffers that all lanes of a transport share: one to read into, since data is handled before the next read, and a
 * pool to write from, since the kernel may take written data later.
 */

/** About 400 queries: larger writes gain nothing. */
const WRITE_BYTES = 16 * 1024;
const READ_BYTES = 64 * 1024;
/** Maximum spare buffers kept. */
const MAX_SPARE = 64;

export interface StreamPool {
  readonly readBuffer: Uint8Array;
  /** A lane's buffer while it has nothing to send. */
  readonly empty: Uint8Array;
  /** A buffer of at least `length` bytes. */
  take(length: number): Uint8Array;
  /** Returns a buffer from `take` to the pool. */
  give(buffer: Uint8Array): void;
}

export function createStreamPool(): StreamPool {
  const spare: Uint8Array[] = [];
  return {
    readBuffer: new Uint8Array(READ_BYTES),
    empty: new Uint8Array(0),
    take: (length) =>
      length > WRITE_BYTES ? new Uint8Array(length) : (spare.pop() ?? new Uint8Array(WRITE_BYTES)),
    give: (buffer) => {
      if (buffer.length === WRITE_BYTES && spare.length < MAX_SPARE) spare.push(buffer);
    },
  };
}
