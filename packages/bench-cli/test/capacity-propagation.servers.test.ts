/** `bench capacity propagation` on real CoreDNS. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { engineKind } from '../src/engine/record.ts';
import { propagationEvidenceSchema } from '../src/experiments/capacity/propagation/evidence.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const kind = engineKind('capacity-propagation', propagationEvidenceSchema);

const SMALL = ['--objects', '0,500', '--churn', '0,100', '--services', '20', '--trials', '1'];

async function measured() {
  return (await createStore(world, 'results').loadAs(kind, 'latest')).record;
}

it('a new Service resolves soon after its event, with and without changes; the run can be interrupted and resumed', async () => {
  const first = world.bench('capacity', 'propagation', ...SMALL);
  await world.errContains('1/4');
  world.send('SIGINT');
  expect(await first).toBe(130);
  expect(world.err()).toMatch(/Continue with: pnpm bench capacity propagation --resume \d{8}-/);
  const kept = (await measured()).trials;
  expect(kept.length).toBeGreaterThan(0);

  expect(await world.bench('capacity', 'propagation', '--resume', 'latest'), world.err()).toBe(0);
  const { status, cases, trials, programs } = await measured();
  expect(status).toBe('complete');
  expect(cases).toHaveLength(4);
  expect(trials.slice(0, kept.length)).toEqual(kept);
  expect(new Set(trials.map((trial) => trial.case)).size).toBe(4);
  for (const trial of trials) {
    if (trial.status === 'failed') throw new Error(trial.failure.message);
    const { evidence } = trial;
    expect(evidence.delaysSeconds).toHaveLength(20);
    expect(evidence.unresolved).toBe(0);
    for (const [index, delay] of evidence.delaysSeconds.entries()) {
      expect(delay).toBeGreaterThan(0);
      expect(delay).toBeLessThan(5);
      expect(evidence.resolutionsSeconds[index]).toBeLessThanOrEqual(delay);
    }
    // Nobody would have to ask more than once, had it been there before it was created.
    expect(evidence.queries).toBeGreaterThan(2 * 20);
    if (trial.case.endsWith('churn=0')) expect(evidence.heldChurnPerSecond).toBe(0);
    else expect(evidence.heldChurnPerSecond).toBeGreaterThan(1);
  }
  expect(programs[0]?.files.Corefile).toContain('disable denial');
  expect(world.out()).toContain('How long a new Service takes to resolve');
  for (const { process } of world.started) expect(process.exit).toBeDefined();

  expect(await world.bench('report', 'latest', '--format', 'csv')).toBe(0);
}, 240_000);
