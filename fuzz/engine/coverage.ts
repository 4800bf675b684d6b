/** What instrumented code reports: how often each place was reached, and the operands of comparisons that failed. */

/** More places than all packages together have. */
const MAX_SITES = 1 << 16;
/** Comparisons kept of one execution. */
const MAX_COMPARISONS = 512;

export type Operand = number | string;

/** Operands of a comparison that were not equal. */
export interface Comparison {
  readonly one: Operand;
  readonly other: Operand;
}

const counters = new Uint8Array(MAX_SITES);
let sites = 0;

/** The number of a place in instrumented code. */
export function newSite(): number {
  if (sites === MAX_SITES) throw new RangeError(`more than ${MAX_SITES} places to count`);
  return sites++;
}

let comparisons: Comparison[] | undefined;

function note(one: unknown, other: unknown): void {
  if (comparisons === undefined || comparisons.length >= MAX_COMPARISONS || one === other) return;
  if (typeof one === 'number' && typeof other === 'number') comparisons.push({ one, other });
  if (typeof one === 'string' && typeof other === 'string') comparisons.push({ one, other });
}

/** The global of instrumented code: counters and comparisons. */
export const probes = {
  n: counters,
  eq: (one: unknown, other: unknown) => {
    if (comparisons !== undefined) note(one, other);
    return one === other;
  },
  ne: (one: unknown, other: unknown) => {
    if (comparisons !== undefined) note(one, other);
    return one !== other;
  },
  lt: (one: number, other: number) => {
    if (comparisons !== undefined) note(one, other);
    return one < other;
  },
  le: (one: number, other: number) => {
    if (comparisons !== undefined) note(one, other);
    return one <= other;
  },
  gt: (one: number, other: number) => {
    if (comparisons !== undefined) note(one, other);
    return one > other;
  },
  ge: (one: number, other: number) => {
    if (comparisons !== undefined) note(one, other);
    return one >= other;
  },
};

/** Runs `action` and returns the operands of its comparisons. */
export async function comparisonsOf(action: () => Promise<unknown>): Promise<readonly Comparison[]> {
  const seen: Comparison[] = [];
  comparisons = seen;
  try {
    await action();
  } finally {
    comparisons = undefined;
  }
  return seen;
}

/** Counts in eight classes, as AFL has them: 1, 2, 3, 4–7, 8–15, 16–31, 32–127, and more. One bit for each. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, count) => {
  const bounds = [0, 1, 2, 3, 7, 15, 31, 127];
  const reached = bounds.filter((bound) => count > bound).length;
  return reached === 0 ? 0 : 1 << (reached - 1);
});

/** Where instrumented code finds the probes. */
export const PROBES = '$fuzz';
Object.assign(globalThis, { [PROBES]: probes });

/** Everything that any execution has reached so far. */
export class Coverage {
  readonly #seen = new Uint8Array(MAX_SITES);

  /** Before each execution. */
  reset(): void {
    counters.fill(0, 0, sites);
  }

  /** Adds what the execution since `reset` reached; returns how much of it is new. */
  add(): number {
    let fresh = 0;
    for (let site = 0; site < sites; site++) {
      const count = counters[site] ?? 0;
      if (count === 0) continue;
      const reached = CLASSES[count] ?? 0;
      const seen = this.#seen[site] ?? 0;
      if ((reached & ~seen) === 0) continue;
      this.#seen[site] = seen | reached;
      fresh++;
    }
    return fresh;
  }

  /** Number of places that were reached. */
  get reached(): number {
    return this.#seen.subarray(0, sites).reduce((sum, seen) => sum + (seen === 0 ? 0 : 1), 0);
  }
}
