/**
 * Throughput, CPU and memory by number of zones, for DinoDNS and the fastest C servers: one `bench run` for each
 * number of zones, in which the servers take turns. From the workspace root:
 *
 *     node benchmarks/zones-curve.ts [--trials 3] [--duration 3] [--tier 0.5] [zones…]
 *
 * Numbers within a row are comparable, since they were measured in turns; numbers in a column only as far as the
 * machine was equally busy. Under half a CPU, Knot DNS takes eight minutes to load a million zones, and NSD two; `bench` waits for
 * up to half an hour.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const SERVERS = ['dinodns', 'knot', 'nsd'];
const ZONES = ['100', '1000', '10000', '100000', '1000000'];

interface Figure {
  readonly median: number;
}

interface Case {
  readonly server: string;
  readonly summary: {
    readonly qps: Figure;
    readonly cpuSecondsPerQuery: Figure;
    readonly memoryBytes: Figure;
  } | null;
  readonly limitedBy: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    trials: { type: 'string', default: '3' },
    duration: { type: 'string', default: '3' },
    tier: { type: 'string', default: '0.5' },
  },
});

function measure(zones: string): Case[] {
  const out = mkdtempSync(join(tmpdir(), 'zones-curve-'));
  try {
    const flags = [
      '--servers',
      SERVERS.join(','),
      '--zones',
      zones,
      '--tier',
      values.tier,
      '--mode',
      'single',
      '--loader',
      'dnsperf',
      // Starts every server once more, and Knot DNS takes minutes to load a million zones.
      '--no-calibrate',
    ];
    const lengths = ['--trials', values.trials, '--duration', values.duration, '--warmup', '1'];
    const stdout = execFileSync('bench', ['run', ...flags, ...lengths, '--out', out, '--json'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PATH: `${join(import.meta.dirname, '../node_modules/.bin')}:${process.env.PATH}`,
      },
    });
    return (JSON.parse(stdout) as { cases: Case[] }).cases;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function cell({ summary, limitedBy }: Case): string {
  if (summary === null) return 'failed';
  const { qps, cpuSecondsPerQuery, memoryBytes } = summary;
  const mark = limitedBy === 'server' ? '' : '†';
  const cpu = (cpuSecondsPerQuery.median * 1e6).toFixed(2);
  const memory = (memoryBytes.median / 2 ** 20).toFixed(0);
  return `${Math.round(qps.median).toLocaleString('en')}${mark} · ${cpu} µs · ${memory} MiB`;
}

console.log(`| zones | ${SERVERS.join(' | ')} |\n|---|${SERVERS.map(() => '---|').join('')}`);
for (const zones of positionals.length > 0 ? positionals : ZONES) {
  const cases = measure(zones);
  const cells = SERVERS.map((server) => cases.find((one) => one.server === server)).map((one) =>
    one === undefined ? 'not measured' : cell(one),
  );
  console.log(`| ${Number(zones).toLocaleString('en')} | ${cells.join(' | ')} |`);
}
console.log('\nQueries per second · CPU per query · memory. † not limited by the server.');
