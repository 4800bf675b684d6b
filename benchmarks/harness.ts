/**
 * Compares small operations: warmed up, in interleaved rounds so that machine drift affects all equally, in CPU time
 * so that other load does not count, and with their allocations.
 */

/** One thing to measure. */
export interface Case {
  readonly name: string;
  /** Does the operation at least `count` times; returns the actual number. */
  run(count: number): number;
  close?(): Promise<void> | void;
}

export interface Suite {
  readonly name: string;
  /** The unit of one operation, for the table's heading: `ns/<unit>`. */
  readonly unit: string;
  open(): Promise<Case[]>;
}

/** The measurement of one case: nanoseconds of CPU time, user and system, per operation. */
export interface Measurement {
  readonly name: string;
  readonly nanoseconds: { readonly median: number; readonly low: number; readonly high: number };
  /** The part of that in the kernel; median. */
  readonly systemNanoseconds: number;
  /** Bytes of JavaScript heap per operation; median of samples. */
  readonly heapBytes: number;
  /** Bytes of array buffers, including Buffers, per operation; median of samples. */
  readonly bufferBytes: number;
  /** Operations in one round. */
  readonly operations: number;
}

export interface MeasureOptions {
  /** Rounds of every case; default 15. */
  readonly rounds?: number;
  /** Approximate CPU time of one round of one case, milliseconds; default 60. */
  readonly roundMilliseconds?: number;
}

const warmUps = 3;
const allocationSamples = 5;

/** V8 allocates areas of tens of kilobytes at once; with this much growth that is an error of about one percent. */
const allocationGoalBytes = 2 << 20;

/** A young generation several times larger than the goal, so that no collection happens during a sample. */
export const nodeFlags: readonly string[] = [
  '--expose-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
];

/** The quantile at `share`, 0 to 1. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

const median = (values: readonly number[]) => quantile(values, 0.5);

/** CPU nanoseconds of this process per operation of `run`. */
function time(run: Case['run'], count: number): { total: number; system: number } {
  const before = process.cpuUsage();
  const done = run(count);
  const { user, system } = process.cpuUsage(before);
  return { total: ((user + system) * 1000) / done, system: (system * 1000) / done };
}

/** How many operations take about `milliseconds` of CPU time. */
function calibrate({ run }: Case, milliseconds: number): number {
  let count = 64;
  for (;;) {
    const before = process.cpuUsage();
    run(count);
    const { user, system } = process.cpuUsage(before);
    const spent = (user + system) / 1000;
    if (spent >= milliseconds / 4) return Math.max(64, Math.round((count * milliseconds) / spent));
    count *= 2;
  }
}

/** Memory growth per operation, over `count` operations. */
function allocation(run: Case['run'], count: number): { heap: number; buffers: number } {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error(`allocations need node ${nodeFlags.join(' ')}`);
  collect();
  collect(); // The second call finishes the first one's sweeping, which would otherwise free buffers during the count.
  const before = process.memoryUsage();
  const done = run(count);
  const after = process.memoryUsage();
  return {
    heap: (after.heapUsed - before.heapUsed) / done,
    buffers: (after.arrayBuffers - before.arrayBuffers) / done,
  };
}

function medianAllocation(run: Case['run'], count: number): { heap: number; buffers: number } {
  const samples = Array.from({ length: allocationSamples }, () => allocation(run, count));
  return {
    heap: median(samples.map(({ heap }) => heap)),
    buffers: median(samples.map(({ buffers }) => buffers)),
  };
}

/** Uses enough operations for visible growth, but not so many that the young generation fills up. */
function measureAllocation({ run }: Case, operations: number): { heap: number; buffers: number } {
  let count = 64;
  while (count < 10 * operations) {
    const { heap, buffers } = allocation(run, count);
    if (Math.max(heap, buffers) * count >= allocationGoalBytes) break;
    count *= 4;
  }
  const own = medianAllocation((done) => done, count);
  const { heap, buffers } = medianAllocation(run, count);
  return { heap: heap - own.heap, buffers: buffers - own.buffers };
}

/** Measures all cases of a suite, interleaved, and closes them. */
export async function measure(suite: Suite, options: MeasureOptions = {}): Promise<Measurement[]> {
  const { rounds = 15, roundMilliseconds = 60 } = options;
  const cases = await suite.open();
  const counts = cases.map((each) => {
    for (let i = 0; i < warmUps; i++) calibrate(each, roundMilliseconds);
    return calibrate(each, roundMilliseconds);
  });
  const times = cases.map(() => [] as { total: number; system: number }[]);
  for (let round = 0; round < rounds; round++) {
    // Alternating directions: A B C, C B A, …
    const order = round % 2 === 0 ? cases.keys() : [...cases.keys()].reverse();
    for (const i of order) {
      const each = cases[i];
      if (each) times[i]?.push(time(each.run, counts[i] ?? 64));
    }
  }
  const results = cases.map((each, i): Measurement => {
    const operations = counts[i] ?? 64;
    const { heap, buffers } = measureAllocation(each, operations);
    const totals = times[i]?.map(({ total }) => total) ?? [];
    return {
      name: each.name,
      nanoseconds: { median: median(totals), low: quantile(totals, 0.25), high: quantile(totals, 0.75) },
      systemNanoseconds: median(times[i]?.map(({ system }) => system) ?? []),
      heapBytes: heap,
      bufferBytes: buffers,
      operations,
    };
  });
  for (const each of cases) await each.close?.();
  return results;
}
