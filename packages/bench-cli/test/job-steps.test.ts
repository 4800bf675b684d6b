/** The script that runs several loads in one container, in the shell that runs it there. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parseSteps, type Step, type StepRequest, stepsCommand } from '../src/loaders/job-steps.ts';

const directory = mkdtempSync(join(tmpdir(), 'steps-'));
afterAll(() => rmSync(directory, { recursive: true }));
const OPTIONS = { pattern: 'all (100\\.00%)', outputFile: join(directory, 'output') };

async function run(steps: readonly StepRequest[]): Promise<Map<number, Step>> {
  const { command, args } = stepsCommand(steps, OPTIONS);
  const [shell = '', ...rest] = [...command, ...args];
  const { stdout, stderr } = await promisify(execFile)(shell, rest);
  expect(stderr).toBe('');
  return parseSteps(stdout.split('\n').slice(0, -1));
}

const say = (group: string, ...words: string[]): StepRequest => ({
  group,
  command: ['printf', '%s\\n', ...words],
});
const shell = (group: string, script: string): StepRequest => ({ group, command: ['sh', '-c', script] });

const printedOf = (step: Step | undefined) => step?.lines.slice(0, step.lines.indexOf('[bench] times'));

describe('several commands in one container', () => {
  it('run in their order, each as it was given', async () => {
    const words = ["it's", '$HOME', '`id`', '$(id)', '{"a": "b \\\\ c"}', '', '-n', '* ;'];
    const both = shell('b', 'echo to both; echo outputs >&2');
    const steps = await run([say('a', ...words), both, say('a', '1'), say('a', '2'), say('b', '1')]);
    expect([...steps.values()].map(printedOf)).toEqual([words, ['to both', 'outputs'], ['1'], ['2'], ['1']]);
    expect([...steps.values()].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
    const started = [...steps.values()].map(({ startedAtSeconds }) => startedAtSeconds ?? 0);
    expect(started).toEqual(started.toSorted((a, b) => a - b));
    expect(Math.abs((started[0] ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('end with the first of their group that fails or prints the pattern, and the others go on', async () => {
    const missing = { group: 'c', command: ['no-such-program'] };
    const steps = await run([
      shell('a', 'echo "lost 5 of 5, all (100.00%)"'),
      shell('b', 'exit 3'),
      missing,
      say('d', 'all 100x00%'),
      ...['a', 'b', 'c', 'd'].map((group) => say(group, group)),
    ]);
    expect([...steps].map(([index, { exitCode }]) => [index, exitCode])).toEqual([
      [0, 0],
      [1, 3],
      [2, 127],
      [3, 0],
      [7, 0],
    ]);
    expect(printedOf(steps.get(2))?.join()).toContain('no-such-program');
    expect(printedOf(steps.get(7))).toEqual(['d']);
  });

  it('have the CPU time that each used', async () => {
    const busy = shell('a', 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done');
    const steps = await run([say('a', '1'), busy, say('a', '1'), busy]);
    const [first = 1, second, third = 1, fourth] = [...steps.values()].map(
      ({ cpuSeconds }) => cpuSeconds ?? 0,
    );
    for (const used of [second, fourth]) {
      expect(used).toBeGreaterThan(first);
      expect(used).toBeGreaterThan(third);
    }
  });

  it('are passed once, however often they are run', () => {
    const steps = [say('x', 'a'), say('y', 'b'), say('y', 'b'), say('x', 'a'), say('x', 'a')];
    const { args } = stepsCommand(steps, OPTIONS);
    const [a, b] = ["printf '%s\\n' a", "printf '%s\\n' b"];
    expect(args).toEqual(['0:1 1:2 1:2 0:1 0:1', OPTIONS.pattern, OPTIONS.outputFile, a, b]);
  });

  it('must fit in an argument', () => {
    expect(() => stepsCommand([say('a', 'x'.repeat(200_000))], OPTIONS)).toThrow(/128 KiB/);
  });
});

describe('the output of several commands', () => {
  const times = (seconds: number) => ['[bench] times', '0m0.00s 0m0.01s', `0m${seconds}s 0m1.00s`];

  it("is cut into steps, with the difference of the shell's times", () => {
    const steps = parseSteps([
      '[bench] step 0 1795262410.25',
      'DNS Performance Testing Tool',
      ...times(2),
      '[bench] status 0',
      '[bench] step 2 1795262411.5',
      ...times(2.5),
      '[bench] status 1',
    ]);
    expect([...steps.keys()]).toEqual([0, 2]);
    expect(steps.get(0)).toMatchObject({ startedAtSeconds: 1795262410.25, cpuSeconds: 3, exitCode: 0 });
    expect(steps.get(2)).toMatchObject({ startedAtSeconds: 1795262411.5, cpuSeconds: 0.5, exitCode: 1 });
    expect(steps.get(0)?.lines[0]).toBe('DNS Performance Testing Tool');
  });

  it('may lack the end of the last, the time, and the times', () => {
    expect([...parseSteps(['[bench] step 0 ', 'cut'])]).toEqual([
      [0, { startedAtSeconds: null, lines: ['cut'], cpuSeconds: null, exitCode: null }],
    ]);
    expect(parseSteps([]).size).toBe(0);
  });
});
