#!/usr/bin/env node
/**
 * `node benchmarks/table.ts [--largest 1000000]`: the answer table's cost by number of zones, from 100. Load time
 * and memory are measured in a separate process for each number of zones; queries for all numbers are measured in
 * one process, interleaved: type A, at random, half of them for names that exist.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildTable } from '@dinodns-bench/server-cluster';
import { defineZoneSet } from '@dinodns-bench/zones';
import { answerCase } from './answer-table/cases.ts';
import { type Measurement, measure, nodeFlags, type Suite } from './harness.ts';

const SMALLEST = 100;
/** More than any cache holds of a million zones. */
const QUERIES = 65_536;

function zonesOf(count: number) {
  return defineZoneSet({ from: 1, to: count * 2 });
}

interface Load {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly tableBytes: number;
  readonly residentBytes: number;
}

/** Loads the zones in a separate process. */
async function load(count: number): Promise<Load> {
  const start = performance.now();
  const before = process.cpuUsage();
  const { store } = await buildTable(zonesOf(count));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - start) / 1000;
  // The collector soon returns the memory that it returns by itself.
  await sleep(1000);
  const residentBytes = process.memoryUsage.rss();
  return { seconds, cpuSeconds: (user + system) / 1e6, tableBytes: store.data.byteLength, residentBytes };
}

function loadApart(count: number): Load {
  const { stdout, stderr, status } = spawnSync(process.execPath, [
    import.meta.filename,
    '--load',
    String(count),
  ]);
  if (status !== 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}

function suiteOf(counts: readonly number[]): Suite {
  return {
    name: 'zones',
    unit: 'query',
    open: () =>
      Promise.all(
        counts.map(async (count) => {
          const { table } = await buildTable(zonesOf(count));
          const questions = Array.from({ length: QUERIES }, () => ({
            name: `example${1 + Math.floor(Math.random() * count * 2)}.com`,
            type: 1,
          }));
          return answerCase(String(count), table, questions);
        }),
      ),
  };
}

function row(count: number, of: Load, base: Load, query: Measurement): string {
  const perZone = (bytes: number) => (bytes / count).toFixed(0);
  const resident = count === SMALLEST ? 'base' : perZone(of.residentBytes - base.residentBytes);
  const { median, low, high } = query.nanoseconds;
  const cells = [
    count.toLocaleString('en'),
    of.seconds.toFixed(3),
    of.cpuSeconds.toFixed(3),
    perZone(of.tableBytes),
    resident,
    median.toFixed(0),
    `${low.toFixed(0)}–${high.toFixed(0)}`,
    query.heapBytes.toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

async function main(largest: number): Promise<void> {
  const counts: number[] = [];
  for (let count = SMALLEST; count <= largest; count *= 10) counts.push(count);
  const loads = counts.map(loadApart);
  const queries = await measure(suiteOf(counts));
  console.log(
    '| zones | load s | load CPU s | table B/zone | RSS B/zone | CPU ns/query | quartiles | heap B/query |',
  );
  console.log('|---:|---:|---:|---:|---:|---:|---:|---:|');
  for (const [index, count] of counts.entries()) {
    const [base, of, query] = [loads[0], loads[index], queries[index]];
    if (base !== undefined && of !== undefined && query !== undefined)
      console.log(row(count, of, base, query));
  }
}

const { values } = parseArgs({ options: { load: { type: 'string' }, largest: { type: 'string' } } });
if (values.load !== undefined) console.log(JSON.stringify(await load(Number(values.load))));
else if (globalThis.gc === undefined) {
  const flags = [...nodeFlags, import.meta.filename, ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, flags, { stdio: 'inherit' }).status ?? 1;
} else await main(Number(values.largest ?? 1_000_000));
