/** The shell steps of the GitHub Action, as a runner would run them, with the `bench` of this workspace. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const action = z
  .object({
    inputs: z.record(z.string(), z.object({ default: z.string().optional() })),
    runs: z.object({
      steps: z.array(
        z.object({
          name: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  })
  .parse(parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')));

const folder = mkdtempSync(join(tmpdir(), 'action-'));
const summary = join(folder, 'summary.md');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const given: Record<string, string> = {
  command: `${process.execPath} ${join(ROOT, 'packages/bench-cli/bin/bench.js')}`,
  servers: 'dinodns,dinodns-stock',
  trials: '2',
  duration: '1',
  'max-regression': '99%',
  normalize: '',
};

/** The value of an expression of the action, of which it has two kinds. */
function withInputs(text: string): string {
  return text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_match, name: string) => {
    if (name === 'runner.temp') return folder;
    const input = name.replace('inputs.', '');
    return given[input] ?? action.inputs[input]?.default ?? '';
  });
}

function runStep(name: string) {
  const step = action.runs.steps.find((candidate) => candidate.name === name);
  if (step?.run === undefined) throw new Error(`the action has no step ${name}`);
  const own = Object.fromEntries(
    Object.entries(step.env ?? {}).map(([key, text]) => [key, withInputs(text)]),
  );
  const env = {
    ...process.env,
    ...own,
    DINODNS_BENCH_BASELINE: 'dinodns-stock',
    DINODNS_BENCH_LOADER: 'builtin',
    DINODNS_BENCH_CALIBRATE: 'false',
    DINODNS_BENCH_WARMUP: '0.5',
    GITHUB_STEP_SUMMARY: summary,
  };
  // As GitHub runs `shell: bash`.
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
}

test('measures, keeps a reference, and judges the next run against it', { timeout: 300_000 }, () => {
  writeFileSync(summary, '');
  const measured = runStep('Measure');
  expect(measured.status, measured.stderr).toBe(0);
  expect(readFileSync(summary, 'utf8')).toContain('DinoDNS');
  expect(runStep('Judge').stdout).toContain('::notice::There is no reference yet');
  expect(runStep('Keep as the reference').status).toBe(0);
  expect(existsSync(join(folder, 'dinodns-bench/tags/reference'))).toBe(true);
  expect(runStep('Measure').status).toBe(0);
  const judged = runStep('Judge');
  expect(judged.status, judged.stderr + judged.stdout).toBe(0);
  expect(readFileSync(summary, 'utf8')).toContain(judged.stdout);
});
