/** The load generator's cost per query without system calls, and the parts of that cost. */
import { createHistogram } from 'node:perf_hooks';
import { nowNs } from '../../packages/load/src/clock.ts';
import { clientCookie } from '../../packages/load/src/engine/cookies.ts';
import { Engine } from '../../packages/load/src/engine/engine.ts';
import { Measurements } from '../../packages/load/src/engine/measurements.ts';
import { hasAdditional } from '../../packages/load/src/engine/questions.ts';
import { Sockets } from '../../packages/load/src/engine/sockets.ts';
import { Source } from '../../packages/load/src/engine/source.ts';
import { Histogram } from '../../packages/load/src/histogram/histogram.ts';
import { responseCheck } from '../../packages/load/src/message/response.ts';
import { messageOptionsSchema } from '../../packages/load/src/options.ts';
import { type Arrivals, scheduleOf } from '../../packages/load/src/schedule/schedule.ts';
import { workloadOptionsSchema } from '../../packages/load/src/workload/options.ts';
import { planWorkload } from '../../packages/load/src/workload/plan.ts';
import { startWorkload } from '../../packages/load/src/workload/start.ts';
import type { Case, Suite } from '../harness.ts';
import { Loopback } from './loopback.ts';

/** A day: no schedule here ends. */
const SECONDS = 86_400;
const ONLY_WORKER = { worker: 0, workers: 1, seed: 1 };
/** Outstanding in a closed loop, and due at once in an open one. */
const WINDOW = 64;

interface EngineCase {
  readonly message?: object;
  readonly workload?: object;
  /** An open loop, whose queries are due one after the other. */
  readonly open?: boolean;
  readonly expect?: boolean;
  readonly sockets?: boolean;
}

/** Queries sent and answered, a window at a time. */
async function engineCase(
  name: string,
  { message, workload, open, expect, sockets }: EngineCase,
): Promise<Case> {
  const plan = await planWorkload(
    workloadOptionsSchema.parse({
      kind: 'names',
      names: Array.from({ length: 200 }, (_, i) => `example${i + 1}.com`),
      ...workload,
    }),
    messageOptionsSchema.parse({ ...message }),
  );
  const started = startWorkload(plan, ONLY_WORKER);
  const measurements = new Measurements(
    sockets === true ? new Sockets(1, { gapSeconds: 1, codes: [0, 3] }) : null,
  );
  const engine = new Engine({
    workload: started,
    measurements,
    window: open === true ? null : WINDOW,
    timeoutNs: 5e9,
    retries: 0,
    check: expect === true ? responseCheck({ codes: [0, 3], addresses: [], maxAgeSeconds: null }) : null,
    edns: hasAdditional(plan.arena),
    cookie: clientCookie(plan),
  });
  const transport = new Loopback(engine.handler('main'));
  engine.attach(transport, null);
  const rate = 1e6;
  const constant: Arrivals = { kind: 'constant', rate };
  const source = new Source({
    workload: started,
    schedule: open === true ? scheduleOf(constant, { ...ONLY_WORKER, durationSeconds: SECONDS }) : null,
    timed: false,
    limit: Number.POSITIVE_INFINITY,
    startNs: 0,
    endNs: SECONDS * 1e9,
  });
  engine.start(source, () => undefined);
  return {
    name,
    run(count) {
      let done = 0;
      while (done < count) {
        const now = open === true ? source.dueNs + ((WINDOW - 1) * 1e9) / rate : nowNs();
        engine.expire(nowNs());
        done += engine.pump(now);
        transport.poll();
      }
      if (measurements.counts.answered < done) throw new Error(`no answers: ${name}`);
      return done;
    },
  };
}

function repeated(name: string, once: (i: number) => void): Case {
  return {
    name,
    run(count) {
      for (let i = 0; i < count; i++) once(i);
      return count;
    },
  };
}

/** Latencies between 10 µs and 10 ms, in mixed order. */
const latencies = Float64Array.from({ length: 4096 }, (_, i) => 1e4 * 1000 ** ((i * 0.618_034) % 1));
const latencyOf = (i: number) => latencies[i & 4095] ?? 0;

function scheduleCase(name: string, arrivals: Arrivals): Case {
  const next = scheduleOf(arrivals, { ...ONLY_WORKER, durationSeconds: SECONDS });
  return repeated(name, () => next());
}

export const loadSuite: Suite = {
  name: 'load',
  unit: 'query',
  async open() {
    const ours = new Histogram();
    const nodes = createHistogram();
    return [
      await engineCase('sent, matched and recorded', {}),
      await engineCase('the same, an open loop', { open: true }),
      await engineCase('the same, with --expect', { expect: true }),
      await engineCase('the same, counted by socket', { sockets: true }),
      await engineCase('the same, with EDNS', { message: { ednsSize: 1232 } }),
      await engineCase('the same, with a cookie', { message: { cookie: '0011223344556677' } }),
      await engineCase('the same, with random labels', { workload: { randomLabelLength: 12 } }),
      scheduleCase('next due time, constant', { kind: 'constant', rate: 1e5 }),
      scheduleCase('next due time, Poisson', { kind: 'poisson', rate: 1e5 }),
      repeated('a latency recorded', (i) => ours.record(latencyOf(i))),
      repeated("a latency recorded by Node's histogram", (i) => nodes.record(Math.round(latencyOf(i)))),
      repeated('the clock read', () => nowNs()),
    ];
  },
};
