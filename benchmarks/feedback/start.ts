/**
 * How long `bench` takes to start, in this working tree and in another revision, beside Node.js itself: the table in CONTRIBUTING.md.
 *
 *     pnpm exec node benchmarks/feedback/start.ts [--revision main~10] [--rounds 10]
 *
 * Everything runs once before it is measured, so that what Node.js keeps of compiled code is there, and then in turns.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { quantile } from '../load/pinned.ts';
import { type Checkout, checkOut } from '../revision.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const COMMANDS = [
  ['--version'],
  ['--help'],
  ['--wrong-flag'],
  ['run', '--dry-run'],
  ['history'],
  ['report', 'results/reference/local-tier1-both', '--format', 'terminal'],
] as const;

/** Writes to a fourth descriptor how many modules were loaded and the largest resident set, in KiB. */
const COUNT = `import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs'; let modules = 0;
registerHooks({ load(url, context, next) { if (!url.startsWith('node:')) modules++; return next(url, context); } });
process.on('exit', () => writeSync(3, JSON.stringify({ modules, kib: process.resourceUsage().maxRSS })));`;

interface Row {
  readonly title: string;
  /** Each revision has its own runs: an index of one is no index of another. */
  readonly directory: string;
  readonly arguments: readonly string[];
  readonly seconds: number[];
  modules: number;
  mib: number;
}

function run(row: Row, more: readonly string[] = []) {
  const start = performance.now();
  const { output } = spawnSync(
    process.execPath,
    ['--conditions=@dinodns-bench/source', ...more, ...row.arguments],
    { cwd: row.directory, stdio: ['ignore', 'ignore', 'ignore', 'pipe'], encoding: 'utf8' },
  );
  return { seconds: (performance.now() - start) / 1000, counted: output[3] ?? '' };
}

const { values } = parseArgs({
  options: { revision: { type: 'string' }, rounds: { type: 'string', default: '10' } },
});
const checkout: Checkout | undefined = values.revision === undefined ? undefined : checkOut(values.revision);
try {
  const places: [string, string][] = [['', HERE]];
  if (checkout !== undefined) places.unshift([` (${values.revision})`, checkout.directory]);
  const empty = () => ({ seconds: [], modules: 0, mib: 0 });
  const rows: Row[] = [{ title: 'Node.js alone', directory: HERE, arguments: ['--eval', '0'], ...empty() }];
  for (const command of COMMANDS) {
    for (const [suffix, directory] of places) {
      const program = join(directory, 'packages/bench-cli/bin/bench.js');
      rows.push({
        title: `\`bench ${command.join(' ')}\`${suffix}`,
        directory,
        arguments: [program, ...command],
        ...empty(),
      });
    }
  }
  for (const row of rows) {
    const { modules, kib } = JSON.parse(
      run(row, ['--import', `data:text/javascript,${encodeURIComponent(COUNT)}`]).counted,
    );
    row.modules = modules;
    row.mib = kib / 1024;
    run(row);
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) row.seconds.push(run(row).seconds);
  }
  console.log('| | seconds, median | memory, MiB | modules |\n|---|---|---|---|');
  for (const { title, seconds, mib, modules } of rows) {
    console.log(`| ${title} | ${quantile(seconds, 0.5).toFixed(2)} | ${mib.toFixed(0)} | ${modules} |`);
  }
} finally {
  checkout?.remove();
}
