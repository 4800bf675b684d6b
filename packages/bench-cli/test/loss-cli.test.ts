/** `bench loss` with wrong input. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('bench loss', () => {
  it.each([
    [['--bands', '5'], '--bands: "5" must be a list of percentages with their sign'],
    [['--bands', '1%,1%'], '--bands: 1%,1% names something twice'],
    [['--bands', '80%'], '--bands: "80%" must be a list of percentages'],
    [['--bands', '60%'], 'with their sign, from 0% to 50%'],
    [['--precision', '0%'], '--precision: "0%" must be a percentage from 1% to 50%'],
    [['--overload', '1'], '--overload: "1" must be a number from 1.5 to 10'],
    [['--servers', 'cluster-dns'], 'cluster-dns is part of a cluster'],
    [['--duration', '0.1'], 'must be a duration of at least 1 second'],
    [['--duration', '10d'], '(one number, in ms, s, m or h; at most 168h)'],
    [['--duration', '1h30m'], '(one number, in ms, s, m or h; at most 168h)'],
  ])('refuses %j with one message and the fix', async (flags, message) => {
    expect(await world.bench('loss', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.err().match(/error \[/g)).toHaveLength(1);
    expect(world.err()).toContain('fix: ');
    expect(world.started).toEqual([]);
  });
});
