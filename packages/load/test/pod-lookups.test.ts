import { typeName } from '@dinodns-bench/wire';
import { describe, expect, test } from 'vitest';
import { candidateNames, LOOKUP_FAILED, LOOKUP_FOUND, MAX_PARALLEL } from '../src/workload/pod-lookups.ts';
import { startWorkload } from '../src/workload/start.ts';
import type { WorkloadPlan } from '../src/workload/workload.ts';
import { messageAt, nameAt, plan } from './support/plans.ts';

const POD = { namespace: 'default', clusterDomain: 'cluster.local', search: ['internal'], ndots: 5 };
const NXDOMAIN = 3;

type Answer = { code: number; answers: number } | 'lost';

/** Acts as the server for one lookup; returns every question with its step, and how the lookup ended. */
function play(of: WorkloadPlan, index: number, server: (name: string, type: string) => Answer) {
  const { lookups } = startWorkload(of, { worker: 0, workers: 1, seed: 1 });
  if (lookups === null) throw new Error('no lookups');
  const out = new Uint32Array(MAX_PARALLEL);
  const asked: string[] = [];
  const slot = lookups.take(0);
  let next = lookups.begin(slot, index, out);
  for (;;) {
    const messages = Array.from(out.subarray(0, next));
    for (const message of messages) {
      const type = typeName(messageAt(of, message).readUInt16BE(messageAt(of, message).length - 4));
      asked.push(`${nameAt(of, message)} ${type}`);
      const answer = server(nameAt(of, message), type);
      const lost = answer === 'lost';
      next = lookups.step(slot, lost, lost ? 0 : answer.code, lost ? 0 : answer.answers, out);
      if (next < 0) return { asked, end: next };
      if (message !== messages.at(-1)) expect(next).toBe(0);
    }
  }
}

const existing =
  (...names: string[]) =>
  (name: string, type: string): Answer =>
    names.includes(name) ? { code: 0, answers: type === 'A' ? 1 : 0 } : { code: NXDOMAIN, answers: 0 };

describe('search list', () => {
  test('a name with fewer dots than ndots goes through the list first', () => {
    expect(candidateNames('infoblox.com', POD)).toEqual([
      'infoblox.com.default.svc.cluster.local',
      'infoblox.com.svc.cluster.local',
      'infoblox.com.cluster.local',
      'infoblox.com.internal',
      'infoblox.com',
    ]);
  });

  test('a name with enough dots is first queried as it is, one with a trailing dot only as it is', () => {
    expect(candidateNames('a.b.c.d.e.f', POD)[0]).toBe('a.b.c.d.e.f');
    expect(candidateNames('a.b.c.d.e.f', POD)).toHaveLength(5);
    expect(candidateNames('a.b.c.d.e', POD).at(-1)).toBe('a.b.c.d.e');
    expect(candidateNames('infoblox.com.', POD)).toEqual(['infoblox.com.']);
    expect(candidateNames('infoblox.com', { ...POD, ndots: 1 })[0]).toBe('infoblox.com');
  });

  test('escaped dots do not separate labels', () => {
    expect(candidateNames('a\\.b', { ...POD, ndots: 1 })[0]).toBe('a\\.b.default.svc.cluster.local');
    expect(candidateNames('a\\046b', { ...POD, ndots: 1 })[0]).toBe('a\\046b.default.svc.cluster.local');
  });

  test('a candidate that would be too long is not queried', () => {
    const long = `${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(50)}`;
    expect(candidateNames(long, POD)).toEqual([`${long}.internal`, long]);
  });
});

describe('lookups', () => {
  test('an internal name is two queries, an external one five times as many', async () => {
    const made = await plan({ kind: 'kubernetes', names: ['kubernetes', 'infoblox.com'] });
    const server = existing('kubernetes.default.svc.cluster.local', 'infoblox.com');
    const internal = play(made, 0, server);
    expect(internal).toEqual({
      asked: ['kubernetes.default.svc.cluster.local A', 'kubernetes.default.svc.cluster.local AAAA'],
      end: LOOKUP_FOUND,
    });
    const external = play(made, 1, server);
    expect(external.end).toBe(LOOKUP_FOUND);
    expect(external.asked).toHaveLength(5 * internal.asked.length);
    expect(external.asked.at(-1)).toBe('infoblox.com AAAA');
  });

  test('an answer to either type is enough, and both are awaited', async () => {
    const made = await plan({ kind: 'kubernetes', names: ['v6only'] });
    const { asked, end } = play(made, 0, (_name, type) =>
      type === 'AAAA' ? { code: 0, answers: 1 } : { code: 0, answers: 0 },
    );
    expect([asked.length, end]).toEqual([2, LOOKUP_FOUND]);
  });

  test('NODATA and SERVFAIL lead to the next candidate, to the end of the list', async () => {
    const made = await plan({ kind: 'kubernetes', names: ['nowhere'] });
    for (const answer of [
      { code: 0, answers: 0 },
      { code: 2, answers: 0 },
    ]) {
      const { asked, end } = play(made, 0, () => answer);
      expect([asked.length, end]).toEqual([10, LOOKUP_FAILED]);
    }
  });

  test('a lost query ends the lookup, unless the other one was answered with data', async () => {
    const made = await plan({ kind: 'kubernetes', names: ['some'] });
    const silentFor = (silent: string) => (_name: string, type: string) =>
      type === silent ? 'lost' : ({ code: 0, answers: 1 } as const);
    expect(play(made, 0, silentFor('AAAA')).end).toBe(LOOKUP_FOUND);
    expect(play(made, 0, () => 'lost')).toMatchObject({ end: LOOKUP_FAILED, asked: { length: 2 } });
  });

  test('other namespaces, cluster domains and one type only', async () => {
    const made = await plan({
      kind: 'kubernetes',
      names: ['db'],
      namespace: 'shop',
      clusterDomain: 'k8s.test',
      search: [],
      types: ['A'],
    });
    expect(play(made, 0, existing('db')).asked).toEqual([
      'db.shop.svc.k8s.test A',
      'db.svc.k8s.test A',
      'db.k8s.test A',
      'db A',
    ]);
  });

  test('lookups in flight do not disturb each other, and their slots are used again', async () => {
    const made = await plan({ kind: 'kubernetes', names: ['one', 'two'], search: [], types: ['A'] });
    const { lookups } = startWorkload(made, { worker: 0, workers: 1, seed: 1 });
    if (lookups === null) throw new Error('no lookups');
    const out = new Uint32Array(MAX_PARALLEL);
    const one = lookups.take(100.5);
    lookups.begin(one, 0, out);
    lookups.step(one, false, NXDOMAIN, 0, out);
    expect(nameAt(made, out[0] ?? 0)).toBe('one.svc.cluster.local');
    const two = lookups.take(200);
    lookups.begin(two, 1, out);
    expect(nameAt(made, out[0] ?? 0)).toBe('two.default.svc.cluster.local');
    lookups.step(one, false, NXDOMAIN, 0, out);
    expect(nameAt(made, out[0] ?? 0)).toBe('one.cluster.local');
    expect(lookups.step(two, false, 0, 1, out)).toBe(LOOKUP_FOUND);
    expect([one, two].map((slot) => lookups.startOf(slot))).toEqual([100.5, 200]);
    lookups.end(one);
    expect([lookups.take(300), lookups.startOf(one), lookups.startOf(two)]).toEqual([one, 300, 200]);
  });

  test('lookups are taken in turn, or by weight', async () => {
    const names = ['kubernetes', 'infoblox.com'];
    const inTurn = startWorkload(await plan({ kind: 'kubernetes', names }), {
      worker: 0,
      workers: 1,
      seed: 1,
    });
    expect([inTurn.next(), inTurn.next(), inTurn.next()]).toEqual([0, 1, 0]);
    const weighted = startWorkload(await plan({ kind: 'kubernetes', names, weights: [0, 1] }), {
      worker: 0,
      workers: 1,
      seed: 1,
    });
    expect([weighted.next(), weighted.next()]).toEqual([1, 1]);
  });
});
