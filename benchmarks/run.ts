#!/usr/bin/env node
/** `node benchmarks/run.ts [suite …] [--json]`: measures and prints Markdown tables, or JSON. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type Measurement, measure, nodeFlags, type Suite } from './harness.ts';
import { suites } from './suites.ts';

const usage = `node benchmarks/run.ts [suite …] [--rounds 15] [--json]

Suites: ${suites.map(({ name }) => name).join(', ')}; default: all.
`;

function table(suite: Suite, measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ name, nanoseconds, systemNanoseconds, heapBytes, bufferBytes }) => {
    const { median, low, high } = nanoseconds;
    const kernel = ((100 * systemNanoseconds) / median).toFixed(0);
    const cells = [
      name,
      median.toFixed(0),
      `${low.toFixed(0)}–${high.toFixed(0)}`,
      `${kernel} %`,
      heapBytes.toFixed(1),
      bufferBytes.toFixed(1),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `## ${suite.name}`,
    '',
    `| case | CPU ns/${suite.unit} | quartiles | in the kernel | heap B/${suite.unit} | buffers B/${suite.unit} |`,
    '|---|---:|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '15' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const unknown = positionals.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) throw new Error(`no suite ${JSON.stringify(unknown)}\n\n${usage}`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds ${values.rounds} is not a positive integer`);
  const chosen = positionals.length === 0 ? suites : suites.filter(({ name }) => positionals.includes(name));
  const results: Record<string, Measurement[]> = {};
  for (const suite of chosen) {
    const measurements = await measure(suite, { rounds });
    results[suite.name] = measurements;
    if (!values.json) console.log(table(suite, measurements));
  }
  if (values.json) console.log(JSON.stringify(results, null, 2));
}

/** Restarts with the flags needed to measure allocations. */
function restart(): number {
  const [, program = '', ...args] = process.argv;
  return spawnSync(process.execPath, [...nodeFlags, program, ...args], { stdio: 'inherit' }).status ?? 1;
}

try {
  if (globalThis.gc === undefined) process.exitCode = restart();
  else await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
