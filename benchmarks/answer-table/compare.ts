#!/usr/bin/env node
/**
 * The answer table of this working tree against that of another revision, or of several: a process for each, which take turns
 * on the same cases. Prints a Markdown table: CPU time per answer, and the ratio to the first revision with the quartiles of the
 * pairs of neighbouring rounds.
 *
 *     node benchmarks/answer-table/compare.ts 9e91bfa^ [REVISION …] [--starts 5] [--rounds 12] [--count 40000]
 *
 * The compiler of V8 decides anew in each process, and not always alike, so all start again `--starts` times.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkOut } from '../revision.ts';
import type { Round } from './version.ts';

/** Until V8 has compiled everything with what it has seen of all cases. */
const WARM_UPS = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    starts: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '12' },
    count: { type: 'string', default: '40000' },
  },
});
const count = Number(values.count);

async function reply<Value>(child: ChildProcess): Promise<Value> {
  const [message] = await once(child, 'message');
  return message;
}

function time(child: ChildProcess, at: number): Promise<number> {
  child.send({ at, count } satisfies Round);
  return reply<number>(child);
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Nanoseconds by case, version and round. */
type Samples = Map<string, number[][]>;

/** Starts a process for each directory and adds their rounds, in alternating order. */
async function start(directories: readonly string[], samples: Samples): Promise<void> {
  const program = fileURLToPath(new URL('version.ts', import.meta.url));
  const children = directories.map((directory) => fork(program, [directory]));
  try {
    const [names = []] = await Promise.all(children.map((child) => reply<string[]>(child)));
    for (let round = -WARM_UPS; round < Number(values.rounds); round++) {
      for (const [at, name] of names.entries()) {
        const row = samples.get(name) ?? directories.map(() => []);
        samples.set(name, row);
        const order = [...children.entries()];
        for (const [version, child] of round % 2 === 0 ? order : order.reverse()) {
          const nanoseconds = await time(child, at);
          if (round >= 0) row[version]?.push(nanoseconds);
        }
      }
      process.stderr.write('.');
    }
  } finally {
    for (const child of children) child.kill();
  }
}

function table(samples: Samples, names: readonly string[]): string {
  const [base = '', ...others] = names;
  const head = ['kind of answer', base, ...others.flatMap((name) => [name, 'ratio', 'quartiles'])];
  const rows = Array.from(samples, ([kind, [first = [], ...rest]]) => {
    const cells = rest.flatMap((own) => {
      const ratios = own.map((value, index) => value / (first[index] ?? Number.NaN));
      const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
      return [quantile(own, 0.5).toFixed(0), middle, `${low}–${high}`];
    });
    return [kind, quantile(first, 0.5).toFixed(0), ...cells];
  });
  const line = (cells: readonly (string | undefined)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}

const checkouts = positionals.map((revision) => ({ revision, ...checkOut(revision) }));
try {
  const directories = [
    ...checkouts.map(({ directory }) => directory),
    fileURLToPath(new URL('../..', import.meta.url)),
  ];
  const samples: Samples = new Map();
  for (let index = 0; index < Number(values.starts); index++) await start(directories, samples);
  process.stderr.write('\n');
  console.log(table(samples, [...positionals, 'here']));
} finally {
  for (const { remove } of checkouts) remove();
}
