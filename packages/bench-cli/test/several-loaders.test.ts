/** Several load generators at once: the gate, the windows, and a run of both loaders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { createBuiltin } from '../src/loaders/builtin/builtin.ts';
import { createDnsperf } from '../src/loaders/dnsperf/dnsperf.ts';
import { behindGate, overlapOf, windowOf } from '../src/loaders/gate/gate.ts';
import { openLocalGate } from '../src/loaders/gate/local-gate.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../src/loaders/loader.ts';
import type { LocalLoaderOptions } from '../src/loaders/local-loader.ts';
import { loaderCores } from '../src/measure/limiting-factor.ts';
import { loadTogether } from '../src/measure/load.ts';
import { describeLoaders } from '../src/measure/several-loaders.ts';
import type { ResourceGroups } from '../src/targets/local/resource-group.ts';
import { realWorld } from '../src/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'gate-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('loads that begin together', () => {
  const outcome = { command: [] } as unknown as LoadOutcome;
  const together = (load: Loader['load'], signal: AbortSignal) =>
    loadTogether(
      {
        ...{ clock: realWorld().clock, count: 2, isGated: false, runSeconds: 1, signal },
        loader: { load } as Loader,
      },
      (index) => ({ outputFile: String(index) }) as LoadRequest,
    );

  it('are complete if Ctrl-C comes right after the last of them', async () => {
    const stop = new AbortController();
    const load = async ({ outputFile }: LoadRequest) => {
      if (outputFile === '1') stop.abort(new Error('Ctrl-C'));
      return outcome;
    };
    expect(await together(load, stop.signal)).toEqual([outcome, outcome]);
  });

  it('end if one of them fails, with its error', async () => {
    const load = ({ outputFile, signal }: LoadRequest) =>
      outputFile === '1'
        ? Promise.reject(new Error('no port'))
        : once(signal, 'abort').then(() => Promise.reject(signal.reason));
    await expect(together(load, new AbortController().signal)).rejects.toThrow('no port');
  });
});

describe('a load generator that cannot be started', () => {
  const started = (create: (options: LocalLoaderOptions) => Loader) => {
    const world = realWorld();
    const absent = { ...world, processes: { ...world.processes, nodePath: join(directory, 'node') } };
    const group = { wrap: (command: readonly string[]) => command, remove: async () => undefined };
    const groups = { create: async () => group } as unknown as ResourceGroups;
    return create({ world: absent, groups, cpuSet: null }).load({
      ...{ endpoint: { address: '127.0.0.1', port: 1 }, outputFile: join(directory, 'raw') },
      ...{ transport: 'udp', queryFile: 'queries', source: null, durationSeconds: 1, ratePerSecond: null },
      ...{ clients: 1, threads: 1, outstanding: 1, timeoutSeconds: 1, dnssecOk: false, openLoop: false },
      ...{ onStarted: () => undefined, onProgress: () => undefined, signal: new AbortController().signal },
    });
  };

  it('is named with its path, and with what mends it', async () => {
    const executable = join(directory, 'dnsperf');
    await expect(
      started((options) => createDnsperf({ ...options, executable, version: '2' })),
    ).rejects.toMatchObject({
      message: expect.stringContaining(`cannot start dnsperf (${executable}): `),
      fix: 'Run `bench doctor --fix`.',
    });
    // It runs on the Node.js of bench, which no --fix installs.
    await expect(started(createBuiltin)).rejects.toMatchObject({
      message: expect.stringContaining(`cannot start the built-in loader (${join(directory, 'node')}): `),
      fix: 'Run `bench doctor`.',
    });
  });
});

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
      const { started, ended, clock } = times.get(index) ?? {};
      expect(started).toBeGreaterThanOrEqual(0);
      // It sleeps for 0.3 s in between.
      expect((ended ?? 0) - (started ?? 0)).toBeGreaterThan(0.29);
      // The clock of this machine, read in the time of a message there and back.
      expect(clock?.roundTripSeconds).toBeLessThan(5);
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
  it('is from the start that they report, for their own run time: until they end they may wait for lost answers', () => {
    expect(windowOf({ started: 0.02, ended: 15.5 }, 10)).toEqual({ startSeconds: 0.02, endSeconds: 10.02 });
    expect(windowOf({ ended: 15.5 }, 10)).toBeNull();
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
