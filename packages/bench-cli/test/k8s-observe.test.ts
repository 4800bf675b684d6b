import { describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import type { KubeClient } from '../src/kubernetes-api/client.ts';
import { parseThrottling } from '../src/observe/kubernetes/cadvisor.ts';
import { type PodWindow, parseGoDuration, parsePodMetrics } from '../src/observe/kubernetes/metrics-api.ts';
import { observeMetrics, windowsWithin } from '../src/observe/kubernetes/observe-metrics.ts';
import { observePods } from '../src/observe/kubernetes/observe-pods.ts';
import { podFigures } from '../src/observe/kubernetes/pod-figures.ts';
import type { PodReading, ThrottlingReading } from '../src/observe/kubernetes/pod-reading.ts';
import { podSource } from '../src/observe/kubernetes/pod-source.ts';
import { parseSummary } from '../src/observe/kubernetes/summary.ts';
import { chooseObservation } from '../src/targets/kubernetes/open-cluster.ts';
import { type Clock, realClock } from '../src/world.ts';

/** Pods of one container. */
const ALONE = new Map(
  ['coredns-1', 'just-started', 'no-containers', 'p', 'q', 'half', 'bad'].map((pod) => [pod, null]),
);

/** As kubelet 1.34 sends it, shortened. */
const SUMMARY = {
  node: { nodeName: 'bench-node', cpu: { time: '2026-11-21T12:19:28Z', usageCoreNanoSeconds: 1 } },
  pods: [
    {
      podRef: { name: 'coredns-1', namespace: 'run', uid: 'u' },
      containers: [
        {
          name: 'main',
          cpu: { time: '2026-11-21T12:19:37Z', usageNanoCores: 2135875, usageCoreNanoSeconds: 421554567 },
          memory: { time: '2026-11-21T12:19:37Z', usageBytes: 12369920, workingSetBytes: 12365824 },
        },
      ],
      cpu: { time: '2026-11-21T12:19:28Z', usageCoreNanoSeconds: 425630887 },
      memory: { workingSetBytes: 13000000 },
      process_stats: { process_count: 3 },
    },
    { podRef: { name: 'just-started', namespace: 'run', uid: 'v' }, containers: [{ name: 'main' }] },
    { podRef: { name: 'no-containers', namespace: 'run' }, cpu: { time: 't', usageCoreNanoSeconds: 5e8 } },
    { podRef: { name: 'coredns-1', namespace: 'another' }, cpu: { time: 't', usageCoreNanoSeconds: 9e9 } },
  ],
};

describe('where CPU and memory come from', () => {
  const node = { metadata: { name: 'node-1' } };
  const error = (code: 'E_CLUSTER_FORBIDDEN' | 'E_CLUSTER_REFUSED' | 'E_CLUSTER_UNREACHABLE') =>
    new BenchError(code, `said ${code}`, { fix: 'None.' });
  const forbidden = error('E_CLUSTER_FORBIDDEN');
  const unreachable = error('E_CLUSTER_UNREACHABLE');

  function choose(
    observe: 'auto' | 'summary' | 'metrics' | 'none',
    kubelet: BenchError | null,
    metrics: BenchError | null = null,
  ) {
    const text = async (path: string) => {
      const failure = path.startsWith('/api/v1/nodes/node-1/') ? kubelet : metrics;
      if (failure !== null) throw failure;
      return '';
    };
    return chooseObservation({ text }, { observe }, { serverNodes: [node] }, new AbortController().signal);
  }

  it('is the metrics API, or nothing, for a user who may not read the other', async () => {
    expect(await choose('auto', null)).toEqual({ observation: 'summary', reason: null });
    expect((await choose('auto', forbidden)).observation).toBe('metrics');
    const nothing = await choose('auto', forbidden, forbidden);
    expect(nothing).toMatchObject({
      observation: 'none',
      reason: expect.stringContaining('neither nodes/proxy nor'),
    });
    await expect(choose('summary', forbidden)).rejects.toBe(forbidden);
    await expect(choose('metrics', null, forbidden)).rejects.toBe(forbidden);
  });

  it('is said truly where there is no metrics API', async () => {
    const { observation, reason } = await choose('auto', forbidden, error('E_CLUSTER_REFUSED'));
    expect(observation).toBe('none');
    expect(reason).toMatch(
      /nodes\/proxy may not be read .*the metrics API gives nothing: said E_CLUSTER_REFUSED$/,
    );
  });

  it.each(['auto', 'summary'] as const)(
    'is not given up for a kubelet that is silent: the run fails, naming its node (--observe %s)',
    async (observe) => {
      await expect(choose(observe, unreachable)).rejects.toMatchObject({
        code: 'E_CLUSTER_UNREACHABLE',
        message: 'the kubelet of node node-1 gives no CPU and memory: said E_CLUSTER_UNREACHABLE',
        fix: expect.stringContaining('kubectl describe node node-1'),
      });
    },
  );
});

describe('the Summary API', () => {
  it('gives CPU time and working set of the pods of a namespace, by container where it can', () => {
    const readings = parseSummary(JSON.stringify(SUMMARY), 'run', ALONE);
    expect([...readings.keys()]).toEqual(['coredns-1', 'no-containers']);
    expect(readings.get('coredns-1')).toEqual({
      cpu: { stamp: '2026-11-21T12:19:37Z', cpuSeconds: 0.421554567 },
      memoryBytes: 12365824,
      processes: 3,
      sidecars: new Map(),
    });
    expect(readings.get('no-containers')).toEqual({
      cpu: { stamp: 't', cpuSeconds: 0.5 },
      memoryBytes: null,
      processes: null,
      sidecars: new Map(),
    });
  });

  it('is empty without pods, and refuses what is no summary', () => {
    expect(parseSummary('{"node":{},"pods":null}', 'n', ALONE).size).toBe(0);
    expect(() => parseSummary('{"pods":[{}]}', 'n', ALONE)).toThrow();
    expect(() => parseSummary('error: forbidden', 'n', ALONE)).toThrow();
  });
});

const line = (metric: string, container: string, value: number, pod = 'p', namespace = 'run') =>
  `container_cpu_cfs_${metric}_total{container="${container}",id="/kubepods/x",image="",name="",namespace="${namespace}",pod="${pod}"} ${value} 1795263428959`;

describe('throttling', () => {
  it('is read of the container, else of the pod', () => {
    const text = [
      '# HELP container_cpu_cfs_periods_total Number of elapsed enforcement period intervals.',
      '# TYPE container_cpu_cfs_periods_total counter',
      line('periods', '', 100),
      line('throttled_periods', '', 40),
      line('throttled_seconds', '', 2.5),
      line('periods', 'main', 90),
      line('throttled_periods', 'main', 30),
      line('throttled_seconds', 'main', 1.25),
      line('periods', '', 7, 'q'),
      line('throttled_periods', '', 0, 'q'),
      line('throttled_seconds', '', 0, 'q'),
      line('periods', '', 7, 'half'),
      line('periods', '', 7, 'p', 'another'),
    ].join('\n');
    const readings = parseThrottling(text, 'run', ALONE);
    const stamp = '1795263428959';
    expect([...readings]).toEqual([
      ['p', { stamp, periods: 90, throttledPeriods: 30, throttledSeconds: 1.25 }],
      ['q', { stamp, periods: 7, throttledPeriods: 0, throttledSeconds: 0 }],
    ]);
  });
});

describe('the metrics API', () => {
  it.each([
    ['10.5s', 10.5],
    ['1m0.5s', 60.5],
    ['1h2m3s', 3723],
    ['500ms', 0.5],
    ['15', null],
    ['', null],
    ['5 s', null],
  ])('a window of %j is %d seconds', (text, seconds) => {
    expect(parseGoDuration(text)).toBe(seconds);
  });

  it('gives means over windows', () => {
    const usage = (cpu: string, memory: string) => ({ name: 'c', usage: { cpu, memory } });
    const item = (name: string, containers: unknown[], window = '10.1s') => ({
      metadata: { name },
      timestamp: '2026-11-21T12:00:10Z',
      window,
      containers,
    });
    const items = [item('p', [usage('250000000n', '64Mi')]), item('bad', [usage('1', '1Ki')], 'soon')];
    expect(parsePodMetrics(JSON.stringify({ items }), ALONE)).toEqual([
      {
        pod: 'p',
        endUnixSeconds: 1795262410,
        seconds: 10.1,
        cpuCores: 0.25,
        memoryBytes: 64 * 2 ** 20,
        sidecars: [],
      },
    ]);
  });

  it('counts only windows that lie within the load, each once', () => {
    const window = (endUnixSeconds: number, cpuCores: number) => ({
      pod: 'p',
      endUnixSeconds,
      seconds: 10,
      cpuCores,
      memoryBytes: 1,
      sidecars: [],
    });
    const windows = [
      window(105, 0.1),
      window(115, 0.5),
      window(115, 0.5),
      window(125, 0.6),
      window(135, 0.2),
    ];
    expect(
      windowsWithin(windows, 104, 126)
        .get('p')
        ?.map(({ cpuCores }) => cpuCores),
    ).toEqual([0.5, 0.6]);
  });
});

/** A clock that moves only when somebody sleeps. */
function fakeClock(): Clock & { seconds: number } {
  const clock = {
    seconds: 0,
    now: () => new Date(clock.seconds * 1000),
    monotonicSeconds: () => clock.seconds,
    after: realClock.after,
    every: realClock.every,
    nap: realClock.nap,
    sleep: async (seconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      clock.seconds += seconds;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
  return clock;
}

/**
 * A kubelet that looks at its pods every `every` seconds only; they use one core from second 30 to 40, and `idleCores` all the
 * time.
 */
function kubelet(clock: Clock, every: number, idleCores = 0) {
  const looked = () => Math.floor(clock.monotonicSeconds() / every) * every;
  const used = (at: number) => Math.min(10, Math.max(0, at - 30));
  const usage = async (): Promise<ReadonlyMap<string, PodReading>> => {
    const at = looked();
    const stamp = new Date(at * 1000).toISOString();
    const cpu = { stamp, cpuSeconds: used(at) + idleCores * at };
    return new Map([['p', { cpu, memoryBytes: 1000 + at, processes: 1, sidecars: new Map() }]]);
  };
  const throttling = async (): Promise<ReadonlyMap<string, ThrottlingReading>> => {
    const at = looked();
    const periods = at * 10;
    return new Map([
      ['p', { stamp: String(at), periods, throttledPeriods: used(at), throttledSeconds: used(at) / 10 }],
    ]);
  };
  return { usage, throttling, windows: async () => [] };
}

describe('observing pods with the metrics API', () => {
  const pods = ['a', 'b'].map((node) => ({ name: `of-${node}`, node, container: null }));
  const { signal } = new AbortController();

  /**
   * Windows of 10 s each, reported 2 s after their end, by the clocks of the nodes: pods use a core under load, from second 100 on. That
   * of node b is `ahead`, or falls silent.
   */
  async function observed({
    seconds = 60,
    ahead = 0,
    silentFrom = Number.POSITIVE_INFINITY,
    lateBy = 0,
  }: {
    seconds?: number;
    ahead?: number;
    silentFrom?: number;
    lateBy?: number;
  }) {
    const clock = fakeClock();
    clock.seconds = 80;
    const windows = async (): Promise<PodWindow[]> =>
      pods.flatMap(({ name, node }) => {
        const late = 2 + (node === 'b' ? lateBy : 0);
        const end = Math.floor((clock.seconds - late) / 10) * 10;
        const cpuCores = end - 10 >= 100 && end <= 100 + seconds ? 1 : 0;
        const endUnixSeconds = end + (node === 'b' ? ahead : 0);
        const isSilent = node === 'b' && clock.seconds >= silentFrom;
        return isSilent
          ? []
          : [{ pod: name, endUnixSeconds, seconds: 10, cpuCores, memoryBytes: 1, sidecars: [] }];
      });
    const window = await observeMetrics({ clock, source: { windows }, pods, clockOffsetSeconds: 0, signal });
    while (clock.seconds < 100) await clock.sleep(1);
    window.started?.();
    // Polls and this are two that wait: time passes for both of them.
    while (clock.seconds < 100 + seconds) await clock.sleep(0.5);
    return { clock, end: await window.end().catch((error: unknown) => error) };
  }

  it('sums up windows within the load, and waits for the last one of each pod', async () => {
    for (const lateBy of [0, 15]) {
      const { end, clock } = await observed({ lateBy });
      expect(end).toMatchObject({ cpuSource: 'metrics-api', cpuCores: 2 });
      // That which ends after the load, at second 170.
      expect(clock.seconds).toBeGreaterThanOrEqual(172 + lateBy);
    }
  });

  it('has no figures where the clock of a node is ahead: its windows would hold the time before the load', async () => {
    expect((await observed({ ahead: 30 })).end).toMatchObject({
      code: 'E_NO_FIGURES',
      message: expect.stringMatching(/^the clock of node b is at least 2\d seconds ahead of that of the API/),
    });
  });

  it('names the node of the pod that it says nothing of, and is silent about loads that are too short', async () => {
    expect((await observed({ silentFrom: 90 })).end).toMatchObject({
      code: 'E_NO_FIGURES',
      message: expect.stringContaining('no window within the load of pod of-b on node b, so'),
    });
    expect((await observed({ silentFrom: 90, seconds: 12 })).end).toBeNull();
  });
});

describe('observing pods', () => {
  const pods = [{ name: 'p', node: 'n', container: null }];
  const { signal } = new AbortController();

  it.each([1, 10, 15])('is exact though the kubelet looks every %d seconds only', async (every) => {
    const clock = fakeClock();
    const window = await observePods({ clock, source: kubelet(clock, every), pods, loadSeconds: 20, signal });
    expect(clock.seconds).toBeLessThanOrEqual(every + 3);
    while (clock.seconds < 30) await clock.sleep(1);
    window.started?.();
    const began = clock.seconds;
    while (clock.seconds < 40) await clock.sleep(0.5);
    const seen = await window.end();
    expect(seen?.cpuSeconds).toBe(10);
    expect(seen?.durationSeconds).toBeGreaterThanOrEqual(10);
    expect(seen?.cpuCores).toBeCloseTo(10 / (seen?.durationSeconds ?? 0));
    expect(seen?.throttling?.throttledSeconds).toBeCloseTo(1);
    expect(seen?.sampleIntervalSeconds).toBeGreaterThanOrEqual(1);
    for (const { atSeconds } of seen?.samples ?? []) expect(atSeconds).toBeGreaterThan(0);
    expect(window.instances?.()).toMatchObject([{ name: 'p', node: 'n', cpuSeconds: 10, queries: null }]);
    expect(began).toBeGreaterThanOrEqual(30);
  });

  it.each([1, 10, 15])(
    'sees first what they use without load, by a kubelet that looks every %d seconds',
    async (every) => {
      const clock = fakeClock();
      const source = kubelet(clock, every, 0.004);
      const options = { clock, source, pods, loadSeconds: 20, signal, idleFirst: true };
      const window = await observePods(options);
      expect(clock.seconds).toBeLessThanOrEqual(2 * every + 8);
      expect(window.idleCores?.()).toBeCloseTo(0.004, 9);
      while (clock.seconds < 40) await clock.sleep(0.5);
      const seen = await window.end();
      expect(seen?.cpuSeconds).toBeGreaterThanOrEqual(10);
      expect(seen?.cpuSeconds).toBeLessThan(10.3);
    },
  );

  it.each([1, 10])(
    'says what they use while idle by its own times, looking every %d seconds',
    async (every) => {
      const clock = fakeClock();
      const window = await observePods({
        ...{ clock, source: kubelet(clock, every, 0.012), pods, loadSeconds: 0, signal },
      });
      const began = clock.seconds;
      expect(window.readSeconds?.()).toBeNull();
      await clock.sleep(4);
      const seen = await window.end();
      expect(clock.seconds).toBeLessThan(30);
      const readSeconds = window.readSeconds?.() ?? 0;
      expect(readSeconds).toBeGreaterThan(clock.seconds - began - every);
      expect((seen?.cpuSeconds ?? 0) / readSeconds).toBeCloseTo(0.012, 9);
    },
  );

  it('has no reading of an interval that began before the load', () => {
    // A core is used from second 10 on.
    const at = (seconds: number) => {
      const cpu = { stamp: String(seconds), cpuSeconds: Math.max(0, seconds - 10) };
      return new Map([['p', { cpu, memoryBytes: 1, processes: 1, sidecars: new Map() }]]);
    };
    const settled = (seconds: number) => ({ values: at(seconds), stale: [] });
    const figures = podFigures({
      ...{ pods, startedAt: 10, endedAt: 16, throttling: { begin: null, end: null } },
      usage: { begin: settled(7), end: settled(16) },
      samples: [7, 9, 11, 13, 15].map((seconds) => ({ atSeconds: seconds, readings: at(seconds) })),
    });
    expect(figures?.observation.samples).toMatchObject([
      { atSeconds: 3, cpuCores: 1 },
      { atSeconds: 5, cpuCores: 1 },
    ]);
  });

  it('takes each pod in a reading by the times of its own kubelet', () => {
    // Kubelets look every ten seconds, that of b four seconds after that of a; each pod uses a core.
    const at = (seconds: number) =>
      new Map(
        [0, 4].map((offset, index) => {
          const looked = Math.floor((seconds - offset) / 10) * 10 + offset;
          const cpu = { stamp: new Date(looked * 1000).toISOString(), cpuSeconds: looked };
          return [`p${index}`, { cpu, memoryBytes: 1, processes: 1, sidecars: new Map() }];
        }),
      );
    const settled = (seconds: number) => ({ values: at(seconds), stale: [] });
    const figures = podFigures({
      pods: [0, 1].map((index) => ({ name: `p${index}`, node: `n${index}`, container: null })),
      ...{ startedAt: 20, endedAt: 60, throttling: { begin: null, end: null } },
      usage: { begin: settled(20), end: settled(64) },
      samples: Array.from({ length: 20 }, (_, index) => 22 + 2 * index).map((seconds) => ({
        ...{ atSeconds: seconds, readings: at(seconds) },
      })),
    });
    const samples = figures?.observation.samples ?? [];
    expect(samples.length).toBeGreaterThan(2);
    for (const { cpuCores } of samples) expect(cpuCores).toBeCloseTo(2, 9);
  });

  it('does not divide by times in whole seconds where they are close to each other', () => {
    // A core, read at 10.05, 11.98 and 14.02: by the times of the kubelet one second, and then three.
    const readings = [10.05, 11.98, 14.02].map((seconds) => {
      const cpu = { stamp: new Date(Math.floor(seconds) * 1000).toISOString(), cpuSeconds: seconds };
      return new Map([['p', { cpu, memoryBytes: 1, processes: 1, sidecars: new Map() }]]);
    });
    const settled = (index: number) => ({ values: readings[index] ?? new Map(), stale: [] });
    const figures = podFigures({
      ...{ pods, startedAt: 10, endedAt: 15, throttling: { begin: null, end: null } },
      usage: { begin: settled(0), end: settled(2) },
      samples: readings.map((each, index) => ({ atSeconds: 10.1 + 2 * index, readings: each })),
    });
    const samples = figures?.observation.samples ?? [];
    expect(samples).toHaveLength(2);
    for (const { cpuCores } of samples) expect(Math.abs(cpuCores - 1)).toBeLessThan(0.05);
  });

  it('does not know what they use without load if it has not looked', async () => {
    const clock = fakeClock();
    const window = await observePods({
      clock,
      source: kubelet(clock, 10, 0.1),
      pods,
      loadSeconds: 20,
      signal,
    });
    expect(window.idleCores?.()).toBeNull();
  });

  it('does not know what a pod used whose counter went back, and names it', async () => {
    const clock = fakeClock();
    const source = kubelet(clock, 1);
    let isRestarted = false;
    const usage = async () =>
      new Map(
        [...(await source.usage())].map(([name, reading]) => {
          const { stamp, cpuSeconds } = reading.cpu;
          return [name, { ...reading, cpu: { stamp, cpuSeconds: isRestarted ? 0 : cpuSeconds + 100 } }];
        }),
      );
    const window = await observePods({ clock, source: { ...source, usage }, pods, loadSeconds: 5, signal });
    window.started?.();
    isRestarted = true;
    await expect(window.end()).rejects.toMatchObject({
      code: 'E_NO_FIGURES',
      message: expect.stringContaining('the CPU counter of pod p on node n went back during the load'),
    });
    expect(window.instances?.()).toBeNull();
  });

  it('names the kubelet that does not look any more: without its figures there is no sum', async () => {
    const clock = fakeClock();
    const window = await observePods({ clock, source: kubelet(clock, 1e9), pods, loadSeconds: 5, signal });
    window.started?.();
    await expect(window.end()).rejects.toMatchObject({
      code: 'E_NO_FIGURES',
      message: expect.stringContaining(
        'the kubelet of node n gave no new figures of pod p within 20 seconds',
      ),
    });
    expect(window.instances?.()).toBeNull();
  });

  describe('on two nodes', () => {
    const places = ['a', 'b'].map((node) => ({ name: `of-${node}`, node, container: null }));

    /** The kubelets of both: each pod uses a core. `fate` is what becomes of that of node b when the load has begun. */
    async function observed(fate: 'answers' | 'does not answer' | 'has no figures') {
      const clock = fakeClock();
      let isBegun = false;
      const text = async (path: string) => {
        const node = path.includes('/nodes/a/') ? 'a' : 'b';
        const isLost = isBegun && node === 'b';
        if (isLost && fate === 'does not answer')
          throw new BenchError('E_CLUSTER_UNREACHABLE', 'no answer within 10 s', { fix: 'Wait.' });
        const at = clock.monotonicSeconds();
        const cpu = { time: new Date(at * 1000).toISOString(), usageCoreNanoSeconds: at * 1e9 };
        const pod = { podRef: { name: `of-${node}`, namespace: 'run' }, cpu, memory: { workingSetBytes: 5 } };
        return JSON.stringify({ pods: isLost && fate === 'has no figures' ? [] : [pod] });
      };
      const source = podSource({ text } as unknown as KubeClient, 'run', places, signal);
      const window = await observePods({ clock, source, pods: places, loadSeconds: 4, signal });
      window.started?.();
      isBegun = true;
      await clock.sleep(4);
      return window;
    }

    it('sums up what both kubelets say', async () => {
      const seen = await (await observed('answers')).end();
      expect(seen?.cpuCores).toBeGreaterThan(1.9);
    });

    it.each([
      ['does not answer', 'the kubelet of node b does not answer: no answer within 10 s'],
      ['has no figures', 'the kubelet of node b gave no new figures of pod of-b within 20 seconds'],
    ] as const)('has no figures at all where one %s, never a smaller sum', async (fate, message) => {
      const window = await observed(fate);
      await expect(window.end()).rejects.toMatchObject({
        code: 'E_NO_FIGURES',
        message: expect.stringContaining(message),
      });
      expect(window.instances?.()).toBeNull();
    });
  });
});
