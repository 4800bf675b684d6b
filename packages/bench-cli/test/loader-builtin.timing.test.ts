/** The built-in loader at a rate, which a busy machine keeps it from holding. All else about it: loader-builtin.test.ts. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CannonResult } from '@dinodns-bench/load';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseEvent } from '../src/loaders/builtin/events.ts';
import { recordSchema } from '../src/results/record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
// Each time the test is repeated.
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

/** What the generator itself says of the only trial: the last line of its raw output. */
async function generatorReport(): Promise<CannonResult> {
  const results = join(world.directory, 'results');
  const path =
    (await readdir(results, { recursive: true })).find((name) => /\/builtin-\w+-1\.txt$/.test(name)) ?? '';
  const lines = (await readFile(join(results, path), 'utf8')).trimEnd().split('\n');
  const event = parseEvent(lines.at(-1) ?? '');
  if (event?.event !== 'result') throw new Error(`no result in ${path}`);
  return event.result;
}

// A machine that stalls for a tenth of a second keeps the rate from being held; not each time the test is repeated.
it('the built-in loader holds a rate in an open loop', { timeout: 60_000 }, async () => {
  const flags = ['--loader', 'builtin', '--open-loop', '--rate', '500', '--servers', 'dinodns'];
  flags.push('--duration', '1', '--warmup', '0', '--zones', '20', '--trials', '1', '--json');
  expect(await world.bench(...flags), world.err()).toBe(0);
  const record = recordSchema.parse(JSON.parse(world.out()));
  for (const flag of ['--loader builtin', '--open-loop', '--rate 500'])
    expect(record.command).toContain(flag);
  const [trial] = record.trials;
  if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
  expect(JSON.parse(trial.loaderCommands[0]?.at(-1) ?? '').load).toEqual({ kind: 'constant', rate: 500 });
  // What was due in this second was sent, or is counted as never sent: nothing is made up for later.
  const { counts, generator } = await generatorReport();
  expect(trial.load.queriesSent).toBe(counts.sent);
  expect(counts.sent + counts.unsent).toBe(500);
  // Its code is not compiled when it begins: within a second, that alone can make one query in a hundred late.
  expect(trial.limitedBy).toBe(generator.wasTheLimit ? 'loader' : 'rate');
});
