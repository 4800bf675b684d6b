/** What bench makes of tools that are installed. */
import { readdir } from 'node:fs/promises';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

it('doctor says what the machine has within 80 columns, and leaves nothing behind', async () => {
  expect(await world.bench('doctor')).toBe(0);
  expect(world.out()).toMatch(/^✓ coredns +1\.15\.0, /m);
  expect(world.out()).toMatch(/^✓ dnsperf +\d/m);
  expect(world.out()).toContain('CPU limits');
  expect(await readdir(world.directory)).toEqual([]);
});

it('doctor says which loader a run would use', async () => {
  await world.bench('doctor', '--json');
  const findings: { name: string; found: string }[] = JSON.parse(world.out());
  expect(findings.find(({ name }) => name === 'loader')?.found).toMatch(/^dnsperf/);
});
