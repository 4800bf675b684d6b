/**
 * The queries in flight on one transport. A cell belongs to one id of one lane: `cell = lane · idSpace + id`.
 *
 * Ids are used in rotation: an answered id is not reused before all other ids of its lane, so that a late or
 * duplicate answer is recognised for as long as possible. A doubly linked list through the cells keeps the queries
 * in flight in the order they were sent, which is also the order in which they expire: sending, answering and
 * expiring are O(1) and allocate nothing.
 */

export const STATE = { unused: 0, outstanding: 1, answered: 2, expired: 3 } as const;

/** The number of DNS message ids (16 bits): no lane has more queries in flight. */
export const ALL_IDS = 65_536;
/** With many lanes, each uses fewer ids, so the tables stay below this many cells (about 60 MB). */
const MAX_CELLS = 2 ** 21;
const MIN_IDS = 64;

/** No cell: the lane has no id left. */
export const NONE = -1;

export interface InFlightOptions {
  readonly lanes: number;
  /** Whether queries belong to lookups. */
  readonly lookups: boolean;
  /** Whether each query's question differs from its message, so that its hash must be kept. */
  readonly hashes: boolean;
  /** Whether it must be known when a query was sent first. */
  readonly firsts: boolean;
}

export class InFlight {
  /** Ids per lane, a power of two: 0 to `idSpace − 1`. */
  readonly idSpace: number;
  /** When latency begins, ns: when a query was due (open loop) or sent; NaN until its batch is sent. */
  readonly start: Float64Array;
  /** When it was last sent, ns. */
  readonly sent: Float64Array;
  /** When it was sent first, ns. Empty where nobody asks. */
  readonly first: Float64Array;
  readonly message: Uint32Array;
  readonly state: Uint8Array;
  /** How often it has been retried. */
  readonly retries: Uint8Array;
  /** The slot of its lookup. Empty without lookups. */
  readonly lookup: Int32Array;
  /** Hash of its question. Empty without hashes. */
  readonly hash: Int32Array;
  /** Queries in flight on each lane. */
  readonly outstandingOf: Uint32Array;

  readonly #nextId: Uint32Array;
  readonly #mask: number;
  readonly #bits: number;
  // The list; the cell after the last one is its sentinel.
  readonly #after: Int32Array;
  readonly #before: Int32Array;
  readonly #sentinel: number;

  constructor({ lanes, lookups, hashes, firsts }: InFlightOptions) {
    const fair = 2 ** Math.floor(Math.log2(MAX_CELLS / lanes));
    this.idSpace = Math.max(MIN_IDS, Math.min(ALL_IDS, fair));
    this.#mask = this.idSpace - 1;
    this.#bits = Math.log2(this.idSpace);
    const cells = lanes * this.idSpace;
    this.start = new Float64Array(cells);
    this.sent = new Float64Array(cells);
    this.first = new Float64Array(firsts ? cells : 0);
    this.message = new Uint32Array(cells);
    this.state = new Uint8Array(cells);
    this.retries = new Uint8Array(cells);
    this.lookup = new Int32Array(lookups ? cells : 0);
    this.hash = new Int32Array(hashes ? cells : 0);
    this.outstandingOf = new Uint32Array(lanes);
    this.#nextId = new Uint32Array(lanes);
    this.#sentinel = cells;
    this.#after = new Int32Array(cells + 1);
    this.#before = new Int32Array(cells + 1);
    this.#after[cells] = cells;
    this.#before[cells] = cells;
  }

  idOf(cell: number): number {
    return cell & this.#mask;
  }

  laneOf(cell: number): number {
    return cell >>> this.#bits;
  }

  /** The cell of an id that arrived; `NONE` if that id was never used. */
  cellOf(lane: number, id: number): number {
    return id < this.idSpace ? (lane << this.#bits) + id : NONE;
  }

  /** Takes a free cell of the lane and puts it last in expiry order; `NONE` if all ids are in flight. */
  begin(lane: number, message: number): number {
    const inLane = this.outstandingOf[lane] ?? 0;
    if (inLane >= this.idSpace) return NONE;
    const first = lane << this.#bits;
    let id = this.#nextId[lane] ?? 0;
    // Queries expire in the same order, so few ids ahead are still in flight.
    while (this.state[first + id] === STATE.outstanding) id = (id + 1) & this.#mask;
    this.#nextId[lane] = (id + 1) & this.#mask;
    const cell = first + id;
    this.outstandingOf[lane] = inLane + 1;
    this.state[cell] = STATE.outstanding;
    this.message[cell] = message;
    this.retries[cell] = 0;
    this.start[cell] = Number.NaN;
    this.sent[cell] = Number.POSITIVE_INFINITY;
    this.#append(cell);
    return cell;
  }

  /** Marks a cell as no longer in flight. */
  end(cell: number, state: typeof STATE.answered | typeof STATE.expired): void {
    this.state[cell] = state;
    const lane = this.laneOf(cell);
    this.outstandingOf[lane] = (this.outstandingOf[lane] ?? 0) - 1;
    this.#unlink(cell);
  }

  /** The cell is sent again: it now expires last. */
  renew(cell: number): void {
    this.retries[cell] = (this.retries[cell] ?? 0) + 1;
    this.sent[cell] = Number.POSITIVE_INFINITY;
    this.#unlink(cell);
    this.#append(cell);
  }

  /** The cell that expires first, or `NONE`. */
  get oldest(): number {
    const cell = this.#after[this.#sentinel] ?? this.#sentinel;
    return cell === this.#sentinel ? NONE : cell;
  }

  /** All cells of one lane that are in flight. For the rare loss of a connection. */
  inLane(lane: number): number[] {
    const first = lane << this.#bits;
    const cells: number[] = [];
    for (let cell = first; cell < first + this.idSpace; cell++) {
      if (this.state[cell] === STATE.outstanding) cells.push(cell);
    }
    return cells;
  }

  #append(cell: number): void {
    const last = this.#before[this.#sentinel] ?? this.#sentinel;
    this.#after[last] = cell;
    this.#before[cell] = last;
    this.#after[cell] = this.#sentinel;
    this.#before[this.#sentinel] = cell;
  }

  #unlink(cell: number): void {
    const before = this.#before[cell] ?? this.#sentinel;
    const after = this.#after[cell] ?? this.#sentinel;
    this.#after[before] = after;
    this.#before[after] = before;
  }
}
