/** Several load generators at once: the gate, the windows, and a run of both loaders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startRecordingServer } from '../../load/test/support/recording-server.ts';
import { BenchError } from '../src/errors.ts';
import { createBuiltin } from '../src/loaders/builtin/builtin.ts';
import { createDnsperf } from '../src/loaders/dnsperf/dnsperf.ts';
import { behindGate, type GateClock, overlapOf, windowOf } from '../src/loaders/gate/gate.ts';
import { openLocalGate } from '../src/loaders/gate/local-gate.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../src/loaders/loader.ts';
import type { LocalLoaderOptions } from '../src/loaders/local-loader.ts';
import { loaderCores } from '../src/measure/limiting-factor.ts';
import { loadTogether } from '../src/measure/load.ts';
import { describeLoaders, eachLoader } from '../src/measure/several-loaders.ts';
import { loadersNote } from '../src/report/compare/pods.ts';
import { createProcessGroup } from '../src/targets/local/process-group.ts';
import type { ResourceGroups } from '../src/targets/local/resource-group.ts';
import { realWorld } from '../src/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'gate-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What the clocks of these machines are ahead, in seconds: of one process each, because those of this machine do not differ. */
const AHEAD = [3, -2];

/** The gate said of a clock what it is ahead, within half of the round trip. */
function expectKnown(clock: GateClock | undefined, aheadSeconds: number): void {
  const { offsetSeconds = Number.NaN, roundTripSeconds = Number.NaN } = clock ?? {};
  expect(roundTripSeconds).toBeGreaterThan(0);
  // Less than what the clocks differ by, or it would say nothing.
  expect(roundTripSeconds).toBeLessThan(1);
  // Node.js reads the time of day once, when it starts: a clock that is being set right runs up to 0.5 ms/s wrong (adjtimex(2)).
  expect(Math.abs(offsetSeconds - aheadSeconds)).toBeLessThanOrEqual(roundTripSeconds / 2 + 0.001);
}

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

describe('load generators whose clocks differ by seconds', () => {
  /** Node.js with a wrong clock: what is imported first moves all that tells the time of day. */
  const withClock = (aheadSeconds: number, [node = '', ...args]: readonly string[]) => {
    const ms = aheadSeconds * 1000;
    const shift = `
      const { now } = Date;
      Date.now = () => now() + ${ms};
      Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + ${ms} });`;
    return [node, `--import=data:text/javascript,${encodeURIComponent(shift)}`, ...args];
  };

  it('start together by the clock of the gate, and the record says how far each is ahead, and how surely', async () => {
    const server = await startRecordingServer();
    const queryFile = join(directory, 'queries');
    writeFileSync(queryFile, 'example1.com A\n');
    const world = realWorld();
    let started = 0;
    const groups = {
      create: async () => {
        const ahead = AHEAD[started++] ?? 0;
        const wrap = (command: readonly string[]) => withClock(ahead, command);
        return { ...(await createProcessGroup(world)), wrap };
      },
    } as unknown as ResourceGroups;
    const { signal } = new AbortController();
    try {
      const outcomes = await loadTogether(
        {
          ...{ clock: world.clock, loader: createBuiltin({ world, groups, cpuSet: null }) },
          ...{ count: AHEAD.length, isGated: true, runSeconds: 2, signal },
        },
        (index) => ({
          ...{ endpoint: { address: '127.0.0.1', port: server.port }, transport: 'udp', queryFile },
          ...{ source: null, durationSeconds: 1, ratePerSecond: 100, timeoutSeconds: 1 },
          ...{ clients: 1, threads: 1, outstanding: 1, dnssecOk: false, openLoop: false },
          ...{ outputFile: join(directory, `load-${index}`) },
          ...{ onStarted: () => undefined, onProgress: () => undefined },
        }),
      );
      const each = eachLoader(outcomes);
      for (const [index, ahead] of AHEAD.entries()) {
        const { clock, startSeconds, endSeconds } = each[index] ?? {};
        expectKnown(clock, ahead);
        // It began when it was let go and sent for a second: by its own clock, it would be seconds before or after.
        expect(startSeconds).toBeGreaterThanOrEqual(0);
        expect(startSeconds).toBeLessThan(1.5);
        expect((endSeconds ?? 0) - (startSeconds ?? 0)).toBeCloseTo(1, 0);
      }
      const said = JSON.stringify(loadersNote([{ overlap: null, each }])).replaceAll(',', '');
      const [, upTo, within] =
        /differed from that one by up to ([\d.]+) ms \(± ([\d.]+) ms\)/.exec(said) ?? [];
      expect(Math.abs(Number(upTo) - 3000)).toBeLessThanOrEqual(Number(within) + 1.1);
    } finally {
      await server.close();
    }
  }, 30_000);
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
  it('lets no command begin before all are ready, whatever their clocks say', async () => {
    const gate = await openLocalGate(realWorld(), 3);
    const ahead = [0, ...AHEAD];
    const start = (index: number) => {
      const file = join(directory, `began-${index}`);
      const shift = join(directory, `shift-${index}`);
      // Bash reads this first: its variable that tells the time becomes one that is set before each command.
      writeFileSync(
        shift,
        `unset EPOCHREALTIME; trap 'EPOCHREALTIME=$(date -d "${ahead[index]} seconds" +%s.%6N)' DEBUG`,
      );
      const [command = '', ...args] = behindGate({ ...gate, index }, [
        'sh',
        '-c',
        `date +%s.%N > ${file}; sleep 0.3; exit ${index}`,
      ]);
      // Under no other shell, bash takes a socket as its standard input for a remote login, and reads ~/.bashrc instead of BASH_ENV.
      // Node.js gives the processes of the tests such a socket, and a program that no shell has started has no SHLVL.
      const env = { ...process.env, BASH_ENV: shift, SHLVL: '1' };
      return { file, child: spawn(command, args, { stdio: 'inherit', env }) };
    };
    const first = [start(0), start(1)];
    await new Promise((resolve) => setTimeout(resolve, 500));
    const lastAt = Date.now() / 1000;
    const all = [...first, start(2)];
    const codes = await Promise.all(all.map(async ({ child }) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 1, 2]);
    const began = all.map(({ file }) => Number(readFileSync(file, 'utf8')));
    expect(Math.min(...began)).toBeGreaterThanOrEqual(lastAt);
    const times = await gate.times;
    const starts = [...times.values()].map(({ started }) => started ?? Number.NaN);
    expect(Math.max(...starts) - Math.min(...starts)).toBeLessThan(1);
    for (const index of [0, 1, 2]) {
      const { started, ended, clock } = times.get(index) ?? {};
      expect(started).toBeGreaterThanOrEqual(0);
      // It sleeps for 0.3 s in between; on a busy machine, the gate has heard of its start 60 ms late.
      expect((ended ?? 0) - (started ?? 0)).toBeGreaterThan(0.1);
      expectKnown(clock, ahead[index] ?? 0);
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
