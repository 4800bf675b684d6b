/** What a reader says of a message, wherever it lies and whatever lies behind it. */
import { QueryReader } from '../src/index.ts';

export interface Reading {
  readonly code: number;
  readonly questionEnd: number;
  readonly type: number;
  readonly class: number;
  readonly labels: readonly number[];
  readonly optAt: number;
  readonly dnssecOk: boolean;
  readonly udpBytes: number;
  readonly hasPadding: boolean;
}

function readAt(bytes: Uint8Array, start: number, length: number): Reading {
  const query = new QueryReader();
  query.read(bytes, start, length);
  const { code, questionEnd, type, class: questionClass, optAt, dnssecOk, udpBytes, hasPadding } = query;
  const labels = Array.from(query.labels.subarray(0, query.labelCount));
  return { code, questionEnd, type, class: questionClass, labels, optAt, dnssecOk, udpBytes, hasPadding };
}

/** Throws if it depends on bytes outside of the message, or on where it lies. */
export function reading(message: Uint8Array): Reading {
  const [first, second] = [0x00, 0x41].map((filler) => {
    const arena = Buffer.alloc(message.length + 600, filler);
    arena.set(message, 7);
    return readAt(arena, 7, message.length);
  });
  if (first === undefined || JSON.stringify(first) !== JSON.stringify(second))
    throw new Error(`the bytes around ${Buffer.from(message).toString('hex')} decide about it`);
  return first;
}
