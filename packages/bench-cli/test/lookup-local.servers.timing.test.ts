/** `bench lookup --local`: the times that it measures, of policies with a programmed delay and of two clients. All else about it: lookup-local.servers.test.ts. */
import { needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { overallsOf } from '../src/experiments/lookup/overall.ts';
import { agreementOf } from '../src/experiments/lookup/tables.ts';
import { expectAgreement, runLookup } from './support/lookup-local.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const MODES = 'Inline,NoDelay,DelayDeniedPacket,DelayDNSResponse';

describe('a simulated policy', () => {
  it.each([
    ['0', 1],
    ['200ms', 2],
    ['1500ms', 2],
  ])(
    'that needs %s shows in each mode as programmed, and says that it is simulated',
    { timeout: 90_000, ...needs('root', 'tcpdump') },
    async (delay, seconds) => {
      const record = await runLookup(
        world,
        ...['--simulate-policy', MODES, '--program-delay', delay],
        ...['--duration', String(seconds), '--trials', '1'],
      );
      expectAgreement(record);
      const overalls = overallsOf(record);
      for (const overall of overalls) {
        const agreement = agreementOf(overall, overalls);
        expect(agreement, `${overall.title}: ${JSON.stringify(agreement)}`).toMatchObject({
          timesAgree: true,
          repeatedAgree: true,
        });
      }
      expect(world.out()).toContain('Simulated DNS policies');
      expect(world.err()).toContain('SIMULATION');
    },
  );
});

/** Of the issue: how far the medians of the two clients may be apart. */
const MAX_CLIENT_DIFFERENCE_SECONDS = 0.0002;

it('the built-in client asks and connects as curl does, and its medians agree within 0.2 ms', {
  timeout: 60_000,
  ...needs('root', 'tcpdump', 'unbound'),
}, async () => {
  const record = await runLookup(
    world,
    ...['--servers', 'unbound', '--client', 'curl,builtin', '--duration', '2', '--trials', '2'],
  );
  expectAgreement(record);
  const overalls = overallsOf(record);
  for (const { samples, queriesPerLookup, families } of overalls) {
    expect(samples.failed).toEqual([]);
    expect(queriesPerLookup).toBe(2);
    expect(families.ipv4).toBe(samples.taken);
  }
  for (const phase of ['lookup', 'connect'] as const) {
    const [curl = Number.NaN, builtin = Number.NaN] = overalls.map(
      ({ phases }) => phases?.[phase].percentiles.find(({ percentile }) => percentile === 50)?.seconds,
    );
    expect(Math.abs(builtin - curl), `${phase}: ${curl} and ${builtin}`).toBeLessThan(
      MAX_CLIENT_DIFFERENCE_SECONDS,
    );
  }
});
