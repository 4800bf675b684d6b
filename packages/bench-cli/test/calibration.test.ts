/** What is chosen before the first trial, and how reports say so. */
import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { unsaturated } from '../src/measure/calibrate.ts';
import { needsCalibration } from '../src/measure/needs-calibration.ts';
import { planRun } from '../src/plan/plan.ts';
import { calibrationNotes } from '../src/report/calibration.ts';
import type { Calibration, CalibrationProbe } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';

const probe = (
  server: string,
  loader: string,
  limitedBy: CalibrationProbe['limitedBy'],
  quotaShare = 1,
): CalibrationProbe => ({
  server,
  loader,
  quotaShare,
  qps: 1000,
  serverCores: 0.621,
  loaderCores: 1,
  limitedBy,
});

const noteOf = (calibration: Partial<Calibration>) =>
  calibrationNotes(
    makeRecord({
      cases: [{ server: 'dinodns', tier: 0.35, trials: [] }],
      record: {
        calibration: {
          generators: [
            { loader: 'dnsperf', qps: 210_000 },
            { loader: 'builtin', qps: 330_000 },
          ],
          probes: [probe('coredns', 'dnsperf', 'server'), probe('dinodns', 'dnsperf', 'loader')],
          loader: 'dnsperf',
          quotaShare: 1,
          saturated: false,
          ...calibration,
        },
      },
    }),
  ).join('\n');

describe('whether load generators are tried first', () => {
  const needs = (flags: Record<string, string>) => {
    const configuration = configure({ env: {}, flags });
    return needsCalibration(configuration, planRun(configuration, 8), []);
  };

  it('is where the load has no limit, on this machine', () => {
    expect(needs({})).toBe(true);
    expect(needs({ rate: '2000' })).toBe(false);
    expect(needs({ rate: '2000,max' })).toBe(true);
    expect(needs({ target: 'kubernetes' })).toBe(false);
    expect(needs({ objective: 'max-rate' })).toBe(false);
    expect(needs({ calibrate: 'false' })).toBe(false);
  });
});

describe('what was chosen', () => {
  it('is by the last probe of each server', () => {
    const probes = [
      probe('coredns', 'dnsperf', 'server'),
      probe('dinodns', 'dnsperf', 'loader'),
      probe('dinodns', 'builtin', 'unknown'),
      probe('dinodns', 'dnsperf', 'server', 0.5),
    ];
    expect(unsaturated(probes.slice(0, 3), 'dnsperf')).toEqual(['dinodns']);
    expect(unsaturated(probes, 'dnsperf')).toEqual([]);
    expect(unsaturated(probes, 'builtin')).toEqual(['dinodns']);
  });

  it('is said where dnsperf suffices', () => {
    expect(noteOf({ saturated: true })).toBe(
      'dnsperf saturates every server (against an echo: dnsperf 210,000, the built-in load generator 330,000 queries per second).',
    );
  });

  it('is said where dnsperf was replaced, with how to keep it', () => {
    const text = noteOf({ loader: 'builtin', saturated: true });
    expect(text).toContain(
      'dnsperf could not saturate DinoDNS (0.62 cores used before the trials); the built-in load generator could',
    );
    expect(text).toContain('--loader dnsperf keeps it');
  });

  it('is said where none suffices, with what it means and what helps', () => {
    const text = noteOf({});
    expect(text).toContain(
      'Neither dnsperf nor the built-in load generator could saturate every server on this machine',
    );
    expect(text).toContain(
      'With dnsperf, DinoDNS (0.62 cores used before the trials) did not reach the CPU limit',
    );
    expect(text).toContain('its throughput is a lower bound, and CPU per query is compared');
    expect(text).toContain('--saturate');
  });

  it('is said where tiers were lowered', () => {
    expect(noteOf({ quotaShare: 0.35, saturated: true })).toMatch(
      /^All tiers were lowered to 35 % of what was asked for, to 0\.35: so dnsperf saturates every server/,
    );
  });
});
