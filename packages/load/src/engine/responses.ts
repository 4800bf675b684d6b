/** Checks a response against its query: whether it matches, its code, and whether it is as expected. */
import { HEADER_BYTES } from '@dinodns-bench/wire';
import { type Check, responseCode, VERDICT } from '../message/response.ts';
import type { Workload } from '../workload/workload.ts';
import type { EngineOptions } from './engine.ts';
import type { InFlight } from './in-flight.ts';
import type { Measurements } from './measurements.ts';
import { hashQuestion, sameQuestion } from './questions.ts';

interface ResponsesOptions extends Pick<EngineOptions, 'workload' | 'measurements' | 'check' | 'edns'> {
  /** Where each message's question ends. */
  readonly questionEnds: Uint16Array;
}

export class Responses {
  readonly #workload: Workload;
  readonly #questionEnds: Uint16Array;
  readonly #measurements: Measurements;
  readonly #check: Check | null;
  readonly #edns: boolean;

  constructor({ workload, questionEnds, measurements, check, edns }: ResponsesOptions) {
    this.#workload = workload;
    this.#questionEnds = questionEnds;
    this.#measurements = measurements;
    this.#check = check;
    this.#edns = edns;
  }

  /** The response code, with its extended bits if it has any. */
  codeOf(bytes: Uint8Array, offset: number, length: number, answersOffset: number): number {
    const code = (bytes[offset + 3] ?? 0) & 0x0f;
    const additional = ((bytes[offset + 10] ?? 0) << 8) | (bytes[offset + 11] ?? 0);
    if (!this.#edns || additional === 0) return code;
    const extended = responseCode(bytes, offset, offset + length, offset + answersOffset);
    return extended < 0 ? code : extended;
  }

  /** Where the answer section begins, from the message's start, if the question is the one asked; else −1, counted. */
  match(inFlight: InFlight, cell: number, bytes: Uint8Array, offset: number, length: number): number {
    const { counts } = this.#measurements;
    const questions = ((bytes[offset + 4] ?? 0) << 8) | (bytes[offset + 5] ?? 0);
    const code = (bytes[offset + 3] ?? 0) & 0x0f;
    // Some servers omit a question that they could not parse: an error is still an answer.
    if (questions === 0 && code !== 0) return HEADER_BYTES;
    const message = inFlight.message[cell] ?? 0;
    const end = this.#questionEnds[message] ?? 0;
    if (questions !== 1 || length < end) {
      counts.malformed += 1;
      return -1;
    }
    const { arena, vary } = this.#workload;
    const same =
      vary === null
        ? sameQuestion(
            bytes,
            offset + HEADER_BYTES,
            arena.bytes,
            (arena.offsets[message] ?? 0) + HEADER_BYTES,
            end - HEADER_BYTES,
          )
        : hashQuestion(bytes, offset + HEADER_BYTES, end - HEADER_BYTES) === inFlight.hash[cell];
    if (same) return end;
    counts.mismatched += 1;
    return -1;
  }

  /** Counts an answer that does not match expectations. */
  verify(bytes: Uint8Array, offset: number, length: number, answersOffset: number): void {
    if (this.#check === null) return;
    const { counts } = this.#measurements;
    switch (this.#check(bytes, offset, length, offset + answersOffset)) {
      case VERDICT.wrongCode:
        counts.wrongCode += 1;
        break;
      case VERDICT.wrongAddress:
        counts.wrongAddress += 1;
        break;
      case VERDICT.malformed:
        counts.unreadable += 1;
        break;
      case VERDICT.stale:
        counts.stale += 1;
        break;
    }
  }
}
