/** Several load generators at once: the gate, the windows, and a run of both loaders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { behindGate, overlapOf, windowOf } from '../src/loaders/gate/gate.ts';
import { openLocalGate } from '../src/loaders/gate/local-gate.ts';
import { loaderCores } from '../src/measure/limiting-factor.ts';
import { describeLoaders } from '../src/measure/several-loaders.ts';
import { realWorld } from '../src/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'gate-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the gate', () => {
  it('lets no command begin before all are ready', async () => {
    const gate = await openLocalGate(realWorld(), 3);
    const start = (index: number) => {
      const file = join(directory, `began-${index}`);
      const [command = '', ...args] = behindGate({ ...gate, index }, [
        'sh',
        '-c',
        `date +%s.%N > ${file}; sleep 0.3; exit ${index}`,
      ]);
      return { file, process: spawn(command, args, { stdio: 'inherit' }) };
    };
    const first = [start(0), start(1)];
    await new Promise((resolve) => setTimeout(resolve, 500));
    const lastAt = Date.now() / 1000;
    const all = [...first, start(2)];
    const codes = await Promise.all(all.map(async ({ process }) => (await once(process, 'exit'))[0]));
    expect(codes).toEqual([0, 1, 2]);
    const began = all.map(({ file }) => Number(readFileSync(file, 'utf8')));
    expect(Math.min(...began)).toBeGreaterThanOrEqual(lastAt);
    const times = await gate.times;
    for (const index of [0, 1, 2]) {
      const { ended, clock } = times.get(index) ?? {};
      expect(ended).toBeGreaterThan(0.3);
      // The clock of this machine, read in the time of a message there and back.
      expect(clock?.roundTripSeconds).toBeLessThan(0.5);
      expect(Math.abs(clock?.offsetSeconds ?? 1)).toBeLessThanOrEqual(
        (clock?.roundTripSeconds ?? 0) / 2 + 0.005,
      );
    }
    await gate.close();
  });

  it('ends, and with it every command that waits, when one of them leaves', async () => {
    const gate = await openLocalGate(realWorld(), 3);
    const [command = '', ...args] = behindGate({ ...gate, index: 0 }, ['true']);
    const waiting = spawn(command, args, { stdio: 'ignore' });
    // Ready, and gone: the gate hears of both in this order, whenever that is.
    connect(gate.port, gate.address)
      .on('error', () => undefined)
      .end('ready 1\n');
    expect((await once(waiting, 'exit'))[0]).toBe(97);
    await gate.close();
  });
});

describe('when the loaders sent', () => {
  it('is what they report, or follows from their end and their run time', () => {
    expect(windowOf({ started: 0.02, ended: 10.5 }, 10)).toEqual({ startSeconds: 0.02, endSeconds: 10.02 });
    expect(windowOf({ ended: 10.25 }, 10)).toEqual({ startSeconds: 0.25, endSeconds: 10.25 });
    expect(windowOf({}, 10)).toBeNull();
  });

  it('overlaps by the share of the time in which all of them did', () => {
    const windows = [
      { startSeconds: 0, endSeconds: 10 },
      { startSeconds: 1, endSeconds: 11 },
    ];
    expect(overlapOf(windows, 10)).toBeCloseTo(0.9);
    expect(overlapOf([...windows, { startSeconds: 12, endSeconds: 20 }], 10)).toBe(0);
    expect(overlapOf([{ startSeconds: 0, endSeconds: 12 }], 10)).toBe(1);
  });

  const outcome = (startSeconds: number, endSeconds: number) => ({
    observation: null,
    wasTheLimit: false,
    window: { startSeconds, endSeconds },
  });

  it('is in the record, and a loader that began late makes the trial fail', () => {
    const configuration = { loaders: 2, durationSeconds: 10 };
    expect(describeLoaders([outcome(0, 10), outcome(0.5, 10.5)], configuration).loaders).toMatchObject({
      overlap: 0.95,
      each: [{ startSeconds: 0 }, { startSeconds: 0.5 }],
    });
    expect(() => describeLoaders([outcome(0, 10), outcome(2, 12)], configuration)).toThrow(BenchError);
    expect(describeLoaders([outcome(0, 10)], { loaders: 1, durationSeconds: 10 })).toEqual({});
  });
});

it('the busiest loader decides whether the loaders were the limit', () => {
  expect(loaderCores([0.2, 0.95])).toBeCloseTo(1.9);
  expect(loaderCores([0.5])).toBe(0.5);
  expect(loaderCores([0.5, null])).toBeNull();
});
