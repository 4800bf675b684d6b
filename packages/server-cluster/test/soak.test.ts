/** Short runs of the robustness programs; the README has the long ones. */
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { killAll, run } from './support/server-process.ts';

afterEach(killAll);

async function soak(program: string, args: readonly string[]) {
  const child = run(fileURLToPath(new URL(`./soak/${program}`, import.meta.url)), args);
  const { code } = await child.exited;
  if (child.stdout === '') throw new Error(child.stderr);
  return { code, result: JSON.parse(child.stdout) };
}

test.each(['native', 'dgram'])(
  'random and mutated datagrams neither harm a server nor its answers to others: %s',
  { timeout: 120_000 },
  async (backend) => {
    const { code, result } = await soak('fuzz.ts', [
      '--count',
      '60000',
      '--seed',
      '7',
      '--',
      '--udp-backend',
      backend,
    ]);
    expect(result).toMatchObject({ sound: true, mutated: 60_000, backend, badReplies: 0, wrong: 0, lost: 0 });
    expect(result.good).toBeGreaterThan(1000);
    expect(result.replies).toBeGreaterThan(10_000);
    expect(code).toBe(0);
  },
);

test('workers are killed and zones reloaded under load', { timeout: 120_000 }, async () => {
  // Seldom enough that a busy machine can start a worker in between.
  const rhythm = ['--kill-every', '3', '--reload-every', '1'];
  const { code, result } = await soak('churn.ts', ['--seconds', '8', '--rate', '500', ...rhythm]);
  expect(result).toMatchObject({ sound: true, wrong: 0, problem: null, lives: true });
  expect(result.kills).toBeGreaterThan(0);
  expect(result.reloads).toBeGreaterThan(0);
  expect(result.answered + result.lost).toBe(result.asked);
  expect(result.answered).toBeGreaterThan(result.asked / 2);
  expect(code).toBe(0);
});
