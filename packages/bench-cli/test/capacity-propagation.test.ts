/** How long a new Service takes to resolve: the plan, the polls, the figures and the messages. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode } from 'dns-packet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDnsClient } from '../src/dns/client.ts';
import { figuresOf } from '../src/experiments/capacity/propagation/measure.ts';
import { propagationCases, propagationStarts } from '../src/experiments/capacity/propagation/plan.ts';
import { pollUntilRight } from '../src/experiments/capacity/propagation/poll.ts';
import type {
  OkPropagationTrial,
  PropagationResult,
} from '../src/experiments/capacity/propagation/propagation-record.ts';
import { propagationSettings } from '../src/experiments/capacity/propagation/settings.ts';
import {
  propagationComparisons,
  propagationSummary,
} from '../src/experiments/capacity/propagation/summaries.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const TWO = { objects: '0,15820', churn: '0,100', trials: '2' };

function okTrial(
  key: string,
  round: number,
  delaysSeconds: number[],
  rest: Partial<OkPropagationTrial> = {},
): OkPropagationTrial {
  return {
    case: key,
    round,
    startedAt: '2026-11-22T12:00:00.000Z',
    status: 'ok',
    delaysSeconds,
    resolutionsSeconds: delaysSeconds.map(() => 0.0005),
    unresolved: 0,
    queries: 10,
    heldChurnPerSecond: 0,
    ...rest,
  };
}

describe('the plan', () => {
  it('measures all rates in one start, and every second round backwards', () => {
    const starts = propagationStarts(propagationSettings(TWO), []);
    expect(
      starts.map(({ key, round, cases }) => [round, key, cases.map(({ churnPerSecond }) => churnPerSecond)]),
    ).toEqual([
      [0, 'coredns-cluster/no-denial/0', [0, 100]],
      [0, 'coredns-cluster/no-denial/15820', [0, 100]],
      [1, 'coredns-cluster/no-denial/15820', [100, 0]],
      [1, 'coredns-cluster/no-denial/0', [100, 0]],
    ]);
    expect(starts[1]?.cluster).toMatchObject({ services: 820, pods: 15_000, endpoints: 15_000 });
  });

  it('has only what is missing when it is resumed', () => {
    const settings = propagationSettings(TWO);
    const [first, second, third] = propagationCases(settings).map(({ key }) => key);
    const done = [okTrial(first ?? '', 0, [1]), okTrial(second ?? '', 0, [1]), okTrial(third ?? '', 1, [1])];
    const starts = propagationStarts(settings, done);
    expect(starts.map(({ round, cases }) => [round, cases.map(({ key }) => key)])).toEqual([
      [0, ['coredns-cluster/no-denial/15820/churn=0', 'coredns-cluster/no-denial/15820/churn=100']],
      [1, ['coredns-cluster/no-denial/15820/churn=100']],
      [1, ['coredns-cluster/no-denial/0/churn=100', 'coredns-cluster/no-denial/0/churn=0']],
    ]);
  });
});

describe('the polls', () => {
  let server: Socket;
  beforeEach(async () => {
    server = createSocket('udp4').bind(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.close();
  });

  /** NXDOMAIN until the moment that `rightFrom` gives on the monotonic clock; then the address. */
  function answerFrom(rightFrom: () => number): void {
    server.on('message', (message, { port, address }) => {
      const { id, questions } = decode(message);
      const isRight = world.clock.monotonicSeconds() >= rightFrom();
      const name = questions?.[0]?.name ?? '';
      const packet = encode({
        type: 'response',
        id,
        flags: isRight ? 0 : 3,
        questions,
        answers: isRight ? [{ type: 'A', name, ttl: 5, data: '10.96.1.0' }] : [],
      });
      server.send(packet, port, address);
    });
  }

  const poll = (seconds: number, intervalSeconds = 0.0005) => {
    const client = createDnsClient({ address: '127.0.0.1', port: server.address().port }, 'udp', world.clock);
    const { clock } = world;
    const deadline = clock.monotonicSeconds() + seconds;
    const signal = new AbortController().signal;
    const service = { name: 'web-1.team-000.svc.cluster.local', address: '10.96.1.0' };
    return pollUntilRight(service, { client, clock, intervalSeconds, deadline, signal }).finally(() =>
      client.close(),
    );
  };

  it('enclose the moment from which the right answer comes', async () => {
    const from = world.clock.monotonicSeconds() + 0.05;
    answerFrom(() => from);
    const { answeredAt, lastWrongSentAt, queries } = await poll(10);
    expect(answeredAt).toBeGreaterThanOrEqual(from);
    expect(lastWrongSentAt).toBeLessThan(from);
    // At half a millisecond, 50 ms have room for 100; a busy machine sends fewer.
    expect(queries).toBeGreaterThan(5);
    expect(queries).toBeLessThan(5000);
  });

  it('end when the time is over, and do not take an answer with another address', async () => {
    server.on('message', (message, { port, address }) => {
      const { id, questions } = decode(message);
      const name = questions?.[0]?.name ?? '';
      const answers = [{ type: 'A', name, ttl: 5, data: '10.96.1.1' }] as const;
      server.send(encode({ type: 'response', id, questions, answers: [...answers] }), port, address);
    });
    const { answeredAt, lastWrongSentAt } = await poll(0.1, 0.005);
    expect(answeredAt).toBeNull();
    expect(lastWrongSentAt).not.toBeNull();
  });
});

describe('the figures', () => {
  const observed = (name: string, answeredAt: number | null, lastWrongSentAt: number | null) => ({
    name,
    answeredAt,
    lastWrongSentAt,
    queries: 7,
  });
  const created = (name: string, monotonicSeconds: number) =>
    ({ type: 'ADDED', name, address: '10.96.1.0', monotonicSeconds }) as const;

  it('count from the event; no delay is smaller than nothing, and no resolution larger than its delay', () => {
    const figures = figuresOf(
      [observed('a', 10.004, 10.003), observed('b', 20.001, 19.9), observed('c', null, 30.5)],
      [created('a', 10), created('b', 20), created('c', 30), created('other', 40)],
      2,
    );
    expect(figures.delaysSeconds.map((seconds) => Number(seconds.toFixed(6)))).toEqual([0.004, 0.001]);
    expect(figures.resolutionsSeconds.map((seconds) => Number(seconds.toFixed(6)))).toEqual([0.001, 0.001]);
    expect(figures).toMatchObject({ unresolved: 1, queries: 21, heldChurnPerSecond: 0.5 });
  });

  it('are compared by rounds: ten times as long is slower, the same is no difference', () => {
    const cases = propagationCases(propagationSettings({ ...TWO, objects: '0' }));
    const [still, busy] = cases.map(({ key }) => key);
    const rounds = [0, 1, 2, 3, 4];
    const result = (factor: number): PropagationResult => ({
      what: 'propagation',
      cases,
      trials: rounds.flatMap((round) => {
        const base = [0.001, 0.0011, 0.00105][round % 3] ?? 0.001;
        return [
          okTrial(still ?? '', round, [base, 2 * base, 9 * base]),
          okTrial(busy ?? '', round, [base * factor, 2 * base * factor * (1 + round / 100), 9 * base]),
        ];
      }),
      pollSeconds: 0.0005,
      timeoutSeconds: 30,
    });
    expect(propagationSummary(result(1), still ?? '')?.median.median).toBeCloseTo(0.0021, 4);
    const [slower, ...others] = propagationComparisons(result(4));
    expect(others).toEqual([]);
    expect(slower).toMatchObject({ by: 'churnPerSecond', delta: { verdict: 'slower' } });
    expect(propagationComparisons(result(1))[0]?.delta.verdict).not.toBe('faster');
  });
});

it.each([
  [['--objects', '-1'], '--objects: "-1" must be a list of whole numbers from 0'],
  [['--churn', '-5'], '--churn: "-5" must be a list of changes a second'],
  [['--config', 'default'], 'others keep negative answers'],
  [['--poll', '0'], '--poll: "0" must be milliseconds from 0.1'],
  [['--services', '0'], '--services: "0" must be a whole number from 1'],
])('%j is refused with its reason', async (flags, message) => {
  expect(await world.bench('capacity', 'propagation', ...flags)).toBe(2);
  expect(world.err()).toContain(message);
});
