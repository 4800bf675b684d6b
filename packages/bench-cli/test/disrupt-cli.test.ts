/** `bench disrupt` with wrong input, and its plan. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveSettings } from '../src/config/configuration.ts';
import { commandOf } from '../src/engine/settings.ts';
import { DISRUPT_SETTINGS } from '../src/experiments/disrupt/settings.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('bench disrupt', () => {
  it.each([
    [
      ['--fault', 'reboot'],
      '--fault: "reboot" must be one of restart, worker-kill, path-lost, upstream-slow',
    ],
    [['--fault', 'rollout,restart'], '--fault rollout needs the pods of a cluster'],
    [['--fault', 'rollout', '--target', 'local'], '--fault rollout needs the pods of a cluster'],
    [['--in-place', '--target', 'local'], '--in-place: has no effect without --target kubernetes'],
    [['--loader-cpu', 'published', '--fault', 'rollout'], '--loader-cpu: "published" must be a quantity'],
    [['--fault', 'restart', '--target', 'kubernetes'], '--fault restart is made on one machine only'],
    [['--factors', 'lameduck=5'], '--factors: lameduck cannot be varied with --target local'],
    [['--factors', 'max_concurrent=100'], '--factors: max_concurrent needs an upstream'],
    [
      ['--fault', 'upstream-slow', '--servers', 'unbound', '--factors', 'max_concurrent=100'],
      '--factors: max_concurrent is an option of CoreDNS, and unbound has none',
    ],
    [
      ['--fault', 'upstream-slow', '--servers', 'unbound', '--factors', 'cache=0,1;serve_stale=off,on'],
      '--factors: without a cache (cache=0) there are no old answers to serve',
    ],
    [['--factors', 'lameduck=x'], '--factors: "lameduck=x" must be NAME=VALUE,VALUE;NAME=VALUE'],
    [
      ['--factors', 'sockets=fresh', '--rate', '5000'],
      '--factors: sockets=fresh takes a socket for each of 60,000 queries, and 28,000 are possible',
    ],
    [['--factors', 'sockets=reused,reused'], 'must be NAME=VALUE,VALUE;NAME=VALUE'],
    [['--delay', '5'], '--delay: has no effect without --fault upstream-slow'],
    [['--outage', '2', '--target', 'kubernetes'], '--outage: has no effect without --target local'],
    [['--fault', 'restart,restart'], '--fault: restart,restart names something twice'],
    [['--rate', '5'], '--rate: "5" must be a number of queries per second'],
    [['--outage', '20', '--duration', '12'], '--duration: 12 s is too short for an outage of 20 s'],
    [['--delay', '11'], '--delay: "11" must be a duration from 0.001 to 10 seconds'],
    [
      ['--fault', 'worker-kill', '--servers', 'dinodns,coredns'],
      'cannot be made with coredns: it has no worker',
    ],
    [
      ['--fault', 'upstream-slow', '--servers', 'knot'],
      'cannot be made with knot: bench cannot configure it',
    ],
    [['--fault', 'upstream-slow', '--servers', 'coredns+file'], 'cannot be made with coredns+file'],
    [['--fault', 'restart', '--servers', 'coredns-cluster'], 'coredns-cluster: it has names of its own'],
    [
      ['--fault', 'restart', '--servers', 'old=at:127.0.0.1:53'],
      'cannot be made with old: bench did not start it',
    ],
    [
      ['--fault', 'upstream-slow', '--servers', 'coredns', '--rate', '100000'],
      '1,200,000 queries are more than the upstream has names',
    ],
  ])('refuses %j with one message and the fix', async (flags, message) => {
    expect(await world.bench('disrupt', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.err().match(/error \[/g)).toHaveLength(1);
    expect(world.err()).toContain('fix: ');
    expect(world.started).toEqual([]);
  });

  it.each([
    [{ fault: 'rollout,kill' }, 'kubernetes'],
    [{ inPlace: true }, 'kubernetes'],
    [{ fault: 'restart' }, 'local'],
    [{}, 'local'],
    [{ fault: 'rollout', target: 'local' }, 'local'],
  ])('with %j is about %s, also when it is repeated', (flags, target) => {
    const settings = resolveSettings(DISRUPT_SETTINGS, { env: {}, flags }, 'disrupt');
    expect(settings.target).toBe(target);
    const again = commandOf('disrupt', DISRUPT_SETTINGS, settings);
    expect(again.includes('--target')).toBe('target' in flags);
  });

  it('has no default in its help that is empty, and no mode', async () => {
    expect(await world.bench('disrupt', '--help-all')).toBe(0);
    expect(await world.bench('swap', '--help-all')).toBe(0);
    expect(world.out().match(/--loader-cpu <quantity>\s+.*load/g)).toHaveLength(2);
    expect(world.out()).not.toMatch(/\(default: \)|in\s+mode single/);
  });

  it('plans a control beside the faults of each server', async () => {
    const flags = [
      '--servers',
      'coredns@1.11.3,unbound',
      '--fault',
      'upstream-slow,upstream-silent',
      '--trials',
      '2',
      '--dry-run',
    ];
    expect(await world.bench('disrupt', ...flags), world.err()).toBe(0);
    const lines = world.out().split('\n');
    expect(lines.slice(0, 6).map((line) => line.split('/').slice(0, 2))).toEqual(
      ['coredns@1.11.3', 'unbound'].flatMap((server) =>
        ['control', 'upstream-slow', 'upstream-silent'].map((fault) => [fault, server]),
      ),
    );
    expect(lines[6]).toContain('6 cases, 12 trials');
  });
});
