/** Collects messages in one block of shared memory. */
import type { QueryArena } from './workload.ts';

const FIRST_BYTES = 64 * 1024;
const FIRST_COUNT = 1024;
/** Offsets are 32 bits wide. */
const MAX_BYTES = 2 ** 32 - 1;

/** The longest message, in bytes. */
export function longestOf({ offsets, count }: QueryArena): number {
  let longest = 0;
  for (let index = 0; index < count; index++)
    longest = Math.max(longest, (offsets[index + 1] ?? 0) - (offsets[index] ?? 0));
  return longest;
}

function grown(array: Uint8Array, size: number): Uint8Array {
  const larger = new Uint8Array(new SharedArrayBuffer(size));
  larger.set(array);
  return larger;
}

export function arenaBuilder() {
  let bytes: Uint8Array = new Uint8Array(new SharedArrayBuffer(FIRST_BYTES));
  let offsets: Uint32Array = new Uint32Array(FIRST_COUNT);
  let used = 0;
  let count = 0;
  return {
    /** Appends a message. @throws RangeError beyond 4 GiB of messages. */
    add(message: Uint8Array): void {
      const end = used + message.length;
      if (end > MAX_BYTES) throw new RangeError('the queries need more than 4 GiB');
      if (end > bytes.length) bytes = grown(bytes, Math.min(MAX_BYTES, Math.max(end, bytes.length * 2)));
      if (count + 2 > offsets.length) {
        const longer = new Uint32Array(offsets.length * 2);
        longer.set(offsets);
        offsets = longer;
      }
      bytes.set(message, used);
      used = end;
      count += 1;
      offsets[count] = used;
    },
    /** Returns the arena; nothing may be added after this. */
    finish(): QueryArena {
      const shared = new Uint32Array(new SharedArrayBuffer((count + 1) * 4));
      shared.set(offsets.subarray(0, count + 1));
      return { bytes: grown(bytes.subarray(0, used), used), offsets: shared, count };
    },
  };
}
