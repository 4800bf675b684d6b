/**
 * Measures small operations against each other: warmed up, in interleaved rounds so that drift of the machine
 * hits all alike, in CPU time so that other load on the machine does not count, and with what they allocate.
 */

/** One thing to measure. */
export interface Case {
  readonly name: string;
  /** Does the operation at least `count` times and returns how many times it did. */
  run(count: number): number;
  close?(): Promise<void> | void;
}

export interface Suite {
  readonly name: string;
  /** What one operation is, for the table's heading: `ns/<unit>`. */
  readonly unit: string;
  open(): Promise<Case[]>;
}

/** Of one case. Nanoseconds of CPU time, user and system, for each operation. */
export interface Measurement {
  readonly name: string;
  readonly nanoseconds: { readonly median: number; readonly low: number; readonly high: number };
  /** Of that, in the kernel; median. */
  readonly systemNanoseconds: number;
  /** Bytes of the JavaScript heap for each operation; median of samples. */
  readonly heapBytes: number;
  /** Bytes of array buffers, Buffers among them, for each operation; median of samples. */
  readonly bufferBytes: number;
  /** Operations in one round. */
  readonly operations: number;
}

export interface MeasureOptions {
  /** Rounds of every case; default 15. */
  readonly rounds?: number;
  /** CPU time of one round of one case, in milliseconds, about; default 60. */
  readonly roundMilliseconds?: number;
}

const warmUps = 3;
const allocationSamples = 5;

/** V8 opens allocation areas of some ten kilobytes at once; this much growth makes that a matter of a percent. */
const allocationGoalBytes = 2 << 20;

/** A young generation that holds several times the goal, so that no collection falls into a sample. */
export const nodeFlags: readonly string[] = [
  '--expose-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
];

/** Sorted, then the value at `share` of the way. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

const median = (values: readonly number[]) => quantile(values, 0.5);

/** CPU nanoseconds of this process while `run` does its work, for each operation. */
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

/** Growth of memory over `count` operations, for each. */
function allocation(run: Case['run'], count: number): { heap: number; buffers: number } {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error(`allocations need node ${nodeFlags.join(' ')}`);
  collect();
  collect(); // The second ends the first one's sweeping, which would free buffers while others are counted.
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

/** With as many operations as it takes to see the growth, and not so many that the young generation fills up. */
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
    // There and back: A B C, C B A, …
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
