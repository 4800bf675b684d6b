/**
 * How long the tests take, in seconds and in CPU seconds, and how large the checked-out tree is.
 *
 *     pnpm exec node benchmarks/feedback/tests.ts [--in DIRECTORY] [SUITE… --timing=none FILE…]
 *
 * Without further words, what `pnpm test` runs. `--in` measures another checkout of this repository, with its dependencies installed. CPU
 * seconds are those of all programs that were waited for: on a busy machine, they say more than the time. The files that cost most
 * are listed below, by the same measure, if that checkout notes it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COSTS_VARIABLE, type FileCost } from '@dinodns-bench/test-support';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
/** `USER_HZ` of every Linux: the unit of times in /proc/self/stat. */
const TICKS_PER_SECOND = 100;
const MOST_LISTED = 20;

const words = process.argv.slice(2);
const [flag, given = ''] = words;
const directory = flag === '--in' ? resolve(given) : HERE;
const suite = flag === '--in' ? words.slice(2) : words;

/** Of all programs that this one has started and waited for, and theirs. */
function cpuSecondsOfChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

function treeOf(root: string): { files: number; megabytes: number } {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter((file) => file !== '');
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(root, file)).size, 0);
  return { files: files.length, megabytes: bytes / 1e6 };
}

const temporary = mkdtempSync(join(tmpdir(), 'costs-'));
try {
  const costs = join(temporary, 'costs.jsonl');
  const start = performance.now();
  const runner = join(directory, 'packages/test-support/src/run.ts');
  const child = spawn(process.execPath, [runner, ...(suite.length === 0 ? ['workspace'] : suite)], {
    cwd: directory,
    // Another checkout may not know it.
    env: { ...process.env, [COSTS_VARIABLE]: costs, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    process.stderr.write(chunk);
  });
  await once(child, 'close');
  const seconds = (performance.now() - start) / 1000;
  const tests = /^ *Tests +(.*)$/m.exec(said)?.[1] ?? 'none';
  const { files, megabytes } = treeOf(directory);
  console.log('| tests | seconds | CPU seconds | tree |\n|---|---|---|---|');
  console.log(
    `| ${tests} | ${seconds.toFixed(0)} | ${cpuSecondsOfChildren().toFixed(0)} | ${megabytes.toFixed(1)} MB, ${files} files |`,
  );
  if (existsSync(costs)) {
    const noted: FileCost[] = readFileSync(costs, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const each = noted.map((cost, index) => {
      const before = noted.findLast((other, at) => at < index && other.process === cost.process);
      return {
        file: cost.file,
        own: cost.own - (before?.own ?? 0),
        programs: cost.programs - (before?.programs ?? 0),
      };
    });
    console.log('\n| file | CPU seconds | of its programs |\n|---|---|---|');
    for (const { file, own, programs } of each
      .sort((a, b) => b.own + b.programs - a.own - a.programs)
      .slice(0, MOST_LISTED))
      console.log(
        `| ${relative(directory, file)} | ${(own + programs).toFixed(1)} | ${programs.toFixed(1)} |`,
      );
  }
} finally {
  rmSync(temporary, { recursive: true });
}
