/** What each socket of a worker sent and got. Counted only where asked for; the hot path adds to arrays of fixed size. */
import type { CannonOptions } from '../options.ts';

/** One socket. Times in seconds since the start. */
export interface SocketReport {
  readonly sent: number;
  readonly answered: number;
  /** Answers that came after their query was given up. */
  readonly late: number;
  readonly lost: number;
  /** The longest time from the first query after a good answer to the next one, or to the end of sending. */
  readonly longestGapSeconds: number;
  /** All of these times that are at least as long as was asked for. */
  readonly gaps: readonly { readonly fromSeconds: number; readonly toSeconds: number }[];
  /** When lost queries were sent: the first of those in each stretch of that length. */
  readonly lostAtSeconds: readonly number[];
}

export class Sockets {
  readonly #gapNs: number;
  /** Response codes of good answers. Null: all. */
  readonly #good: ReadonlySet<number> | null;
  readonly #sent: Uint32Array;
  readonly #answered: Uint32Array;
  readonly #late: Uint32Array;
  readonly #lost: Uint32Array;
  /** When the first query since the last good answer was sent; 0 if there is none. */
  readonly #waitingNs: Float64Array;
  readonly #longestNs: Float64Array;
  #endNs = Number.POSITIVE_INFINITY;
  readonly #gaps: (readonly [fromNs: number, toNs: number])[][];
  readonly #lostAtNs: number[][];

  constructor(lanes: number, { gapSeconds, codes }: NonNullable<CannonOptions['sockets']>) {
    this.#gapNs = gapSeconds * 1e9;
    this.#good = codes === null ? null : new Set(codes);
    this.#sent = new Uint32Array(lanes);
    this.#answered = new Uint32Array(lanes);
    this.#late = new Uint32Array(lanes);
    this.#lost = new Uint32Array(lanes);
    this.#waitingNs = new Float64Array(lanes);
    this.#longestNs = new Float64Array(lanes);
    this.#gaps = Array.from({ length: lanes }, () => []);
    this.#lostAtNs = Array.from({ length: lanes }, () => []);
  }

  send(lane: number, atNs: number): void {
    this.#sent[lane] = (this.#sent[lane] ?? 0) + 1;
    if (this.#waitingNs[lane] === 0) this.#waitingNs[lane] = atNs;
  }

  answer(lane: number, atNs: number, code: number): void {
    this.#answered[lane] = (this.#answered[lane] ?? 0) + 1;
    if (this.#good === null || this.#good.has(code)) this.#endGap(lane, atNs);
  }

  late(lane: number): void {
    this.#late[lane] = (this.#late[lane] ?? 0) + 1;
  }

  lose(lane: number, sentNs: number): void {
    this.#lost[lane] = (this.#lost[lane] ?? 0) + 1;
    const all = this.#lostAtNs[lane];
    if (all !== undefined && sentNs - (all.at(-1) ?? Number.NEGATIVE_INFINITY) >= this.#gapNs)
      all.push(sentNs);
  }

  /** An answer that comes after the end of sending ends no longer gap than one that never comes. */
  stop(atNs: number): void {
    this.#endNs = atNs;
  }

  #endGap(lane: number, receivedNs: number): void {
    const from = this.#waitingNs[lane] ?? 0;
    if (from === 0) return;
    this.#waitingNs[lane] = 0;
    const atNs = Math.min(receivedNs, this.#endNs);
    const gap = atNs - from;
    if (gap > (this.#longestNs[lane] ?? 0)) this.#longestNs[lane] = gap;
    if (gap >= this.#gapNs) this.#gaps[lane]?.push([from, atNs]);
  }

  /** Once all is answered or given up. What still waits for a good answer has waited until the end of sending. */
  reports(startNs: number, endNs: number): SocketReport[] {
    const seconds = (ns: number) => (ns - startNs) / 1e9;
    return Array.from(this.#sent, (sent, lane) => {
      this.#endGap(lane, endNs);
      return {
        sent,
        answered: this.#answered[lane] ?? 0,
        late: this.#late[lane] ?? 0,
        lost: this.#lost[lane] ?? 0,
        longestGapSeconds: (this.#longestNs[lane] ?? 0) / 1e9,
        gaps: (this.#gaps[lane] ?? []).map(([from, to]) => ({
          fromSeconds: seconds(from),
          toSeconds: seconds(to),
        })),
        lostAtSeconds: (this.#lostAtNs[lane] ?? []).map(seconds),
      };
    });
  }
}
