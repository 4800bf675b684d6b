/**
 * Are the lines of `bench capacity memory` honest at every size? Their method on values whose truth is known, and on the
 * published record with starts and sizes held out. `docs/capacity.md` has the figures.
 */

import { describe, expect, it } from 'vitest';
import { okTrials } from '../src/engine/record.ts';
import { BYTES_PER_MEGABYTE, PROGRAM_BYTES } from '../src/experiments/capacity/figures.ts';
import { measuredBasis } from '../src/experiments/capacity/measured-basis.ts';
import { type MemoryEvidence, memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import {
  type MemoryFit,
  memoryLines,
  observe,
  seriesOf,
  termCounts,
} from '../src/experiments/capacity/memory/lines.ts';
import { planCapacity } from '../src/experiments/capacity/plan.ts';
import { publishedThroughput } from '../src/experiments/capacity/throughput-basis.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import { expectedValue, proportionalFit } from '../src/stats/proportional-fit.ts';
import { referenceText } from './support/reference.ts';
import { noise, shareOf } from './support/simulate.ts';

const RECORD = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
const FITS = memoryLines(RECORD);

const ones = (values: readonly unknown[]) => values.map(() => 1);

/** The line of `proportionalFit`, as `expectedValue` takes it. */
function lineThrough(columns: readonly (readonly number[])[], values: readonly number[]) {
  const fit = proportionalFit(columns, values);
  if (fit === null) throw new Error('no line');
  const estimates = fit.coefficients.map(({ estimate }) => estimate);
  return { ...fit, estimates, degrees: values.length - columns.length };
}

describe('a line through values that scatter in proportion to their size', () => {
  it('is exact through exact values, whatever their sizes', () => {
    const pods = [0, 0, 20, 150_000];
    const services = [0, 8, 5000, 90];
    const values = pods.map((count, at) => 40e6 + 5000 * count + 900 * (services[at] ?? 0));
    const { estimates, residual } = lineThrough([ones(pods), pods, services], values);
    expect(estimates.map(Math.round)).toEqual([40e6, 5000, 900]);
    expect(residual).toBeLessThan(1e-9);
  });

  it('of a single size is their mean, and expects a further value where the textbook does', () => {
    const values = [41, 44, 39, 46, 40];
    const line = lineThrough([ones(values)], values);
    // Mean 42, standard deviation √(34 ÷ 4), Student's t for 4 degrees of freedom 2.7764.
    const half = 2.7764 * Math.sqrt(34 / 4) * Math.sqrt(1 + 1 / 5);
    expect(line.estimates[0]).toBeCloseTo(42, 9);
    expect(line.residual).toBeCloseTo(Math.sqrt(34 / 4) / 42, 9);
    const { low, high } = expectedValue(line, [1]);
    expect(low).toBeCloseTo(42 - half, 3);
    expect(high).toBeCloseTo(42 + half, 3);
  });

  it('says nothing of values that are not above zero', () => {
    expect(proportionalFit([[1, 1, 1]], [1, 0, 2])).toBeNull();
  });

  // Three standard errors of a share of 5 % in 1,000 runs are 2.1 %.
  it.each([0, 5000, 63_280, 158_200])('with %i objects expects 95 in 100 further starts', (objects) => {
    const { normal } = noise(`lines ${objects}`);
    const sizes = [0, 15_820, 63_280, 158_200].flatMap((size) => [size, size]);
    const draw = (size: number) => (40 + 0.015 * size) * (1 + 0.06 * normal());
    const share = shareOf(1000, () => {
      const { low, high } = expectedValue(lineThrough([ones(sizes), sizes], sizes.map(draw)), [1, objects]);
      const further = draw(objects);
      return low <= further && further <= high;
    });
    expect(share).toBeGreaterThan(0.93);
    expect(share).toBeLessThan(0.97);
  });
});

/** The figures that a plan rests on. */
const PLANNED = ['steady', 'coldStartPeak', 'relistPeak'] as const;

const GROUPS = seriesOf(RECORD);

const around = (fit: MemoryFit, counts: Parameters<typeof termCounts>[1]) =>
  expectedValue(
    {
      estimates: fit.terms.map(({ bytes }) => bytes),
      covariance: fit.covariance,
      residual: fit.scatterRatio,
      degrees: fit.starts - fit.terms.length,
    },
    termCounts(fit, counts),
  );

interface HeldOut {
  readonly within: boolean;
  readonly notAbove: boolean;
}

type Start = ReturnType<typeof okTrials<MemoryEvidence>>[number];

/** Each start of the record beside the line through those that `keep` leaves. */
function heldOut(keep: (other: Start, left: Start) => boolean) {
  return GROUPS.flatMap((points) => {
    const own = points.flatMap(({ key }) => okTrials(RECORD, key));
    const cases = RECORD.cases.filter(({ key }) => points.some((point) => point.key === key));
    return own.flatMap((left) => {
      const lines = memoryLines({ cases, trials: own.filter((other) => keep(other, left)) });
      return PLANNED.flatMap((figure): HeldOut[] => {
        const fit = lines.find((line) => line.figure === figure);
        const [seen] = observe({ trials: [left] }, points, figure);
        if (fit === undefined || seen === undefined) return [];
        const { low, high } = around(fit, seen.point);
        const notAbove = seen.bytes <= high;
        return [{ within: low <= seen.bytes && notAbove, notAbove }];
      });
    });
  });
}

const share = (held: readonly HeldOut[], which: keyof HeldOut) =>
  held.filter((one) => one[which]).length / held.length;

describe('the published record', () => {
  it('has a line for each figure, server and configuration', () => {
    expect(RECORD.trials).toHaveLength(32);
    expect(FITS).toHaveLength(24);
  });

  it('has 97 of 100 held-out starts within the interval that the others predict', () => {
    const held = heldOut((other, left) => other !== left);
    expect(held).toHaveLength(96);
    expect(share(held, 'within')).toBeGreaterThanOrEqual(0.95);
    expect(share(held, 'notAbove')).toBeGreaterThanOrEqual(0.975);
  });

  it('has 99 of 100 starts of a held-out size below the upper end that the other sizes predict', () => {
    const held = heldOut((other, left) => other.case !== left.case);
    expect(held).toHaveLength(96);
    expect(share(held, 'within')).toBeGreaterThanOrEqual(0.9);
    expect(share(held, 'notAbove')).toBeGreaterThanOrEqual(0.975);
  });
});

const OPTIONS = { origin: 'measured', version: '1.15.0' } as const;

function planFor(pods: number, services: number, more: { autopath?: boolean; version?: string } = {}) {
  const { autopath = false, version = OPTIONS.version } = more;
  const configuration = autopath ? ('autopath' as const) : ('default' as const);
  const basis = measuredBasis(RECORD, { ...OPTIONS, version, configuration });
  if (basis === null) throw new Error('no basis');
  const unknown = { memoryLimitBytes: null, replicas: null, nodes: null };
  const lookups = { internalLookups: 0, externalLookups: 0, families: 2, searchDomains: 4 } as const;
  const size = { pods, services, endpoints: null, source: 'given', autopath };
  return planCapacity({ ...size, ...lookups, ...unknown }, basis, publishedThroughput(configuration));
}

describe('a plan by the published record', () => {
  // What the test cluster used at most, and the limits that one scatter for all sizes led to.
  it.each([
    [5000, 4741, 259, 46.8, 100.6],
    [20_000, 18_963, 1037, 84.8, 138.9],
  ])(
    'of %i objects is above what they used, and well below what it was',
    (_, pods, services, used, before) => {
      const { memoryLimitMegabytes } = planFor(pods, services);
      expect(memoryLimitMegabytes).toBeGreaterThan(1.2 * used);
      // The limit has room for the program as well.
      expect(memoryLimitMegabytes - PROGRAM_BYTES / BYTES_PER_MEGABYTE).toBeLessThan(0.8 * before);
    },
  );

  it('promises no start less than it was measured to need, at any size', () => {
    for (const points of GROUPS) {
      for (const point of points) {
        const { server, configuration, pods, services, key } = point;
        const version = server.slice(server.indexOf('@') + 1);
        const plan = planFor(pods, services, { autopath: configuration === 'autopath', version });
        const needed = (figure: (typeof PLANNED)[number]) =>
          Math.max(...observe(RECORD, [point], figure).map(({ bytes }) => bytes / BYTES_PER_MEGABYTE));
        const peak = Math.max(...PLANNED.map(needed));
        expect(plan.memoryRequestMegabytes, key).toBeGreaterThanOrEqual(Number(needed('steady').toFixed(2)));
        expect(plan.memoryLimitMegabytes, key).toBeGreaterThanOrEqual(Number((1.25 * peak).toFixed(2)));
      }
    }
  });

  it('counts endpoints where the line has them apart', () => {
    const apart = FITS.map((fit): MemoryFit => {
      const isIt =
        fit.server === 'coredns-cluster@1.15.0' && fit.configuration === 'default' && fit.figure === 'steady';
      if (!isIt) return fit;
      const terms = [...fit.terms, { of: 'endpoints', bytes: 1000, low: 900, high: 1100 } as const];
      return { ...fit, terms, covariance: [...fit.covariance.map((row) => [...row, 0]), [0, 0, 0]] };
    });
    const options = { ...OPTIONS, configuration: 'default' } as const;
    const [together, counting] = [FITS, apart].map((fits) => measuredBasis(RECORD, options, fits));
    const size = { pods: 5000, services: 100, endpoints: 5000 };
    expect([together?.countsEndpoints, counting?.countsEndpoints]).toEqual([false, true]);
    expect(counting?.steady({ ...size, endpoints: 75_000 }).value).toBeCloseTo(
      (counting?.steady(size).value ?? 0) + 70,
      6,
    );
  });

  it('promises no less than a start of a smaller size needed that was far above the line', () => {
    const odd = structuredClone(RECORD);
    const [start] = okTrials(odd, 'coredns-cluster@1.15.0/default/15820');
    if (start === undefined) throw new Error('no start');
    start.evidence.relist.peak.anonymousBytes = 500 * BYTES_PER_MEGABYTE;
    const basis = measuredBasis(odd, { ...OPTIONS, configuration: 'default' }, FITS);
    expect(basis?.relistPeak({ pods: 15_000, services: 819, endpoints: 15_000 })?.high).toBeLessThan(500);
    expect(basis?.relistPeak({ pods: 15_000, services: 820, endpoints: 15_000 })?.high).toBe(500);
  });
});
