/**
 * The tables of packages/server-cluster/README.md, "How fast", each by one command. From the workspace root:
 *
 *     pnpm exec node benchmarks/server/tables.ts half        # limited by the server: half a CPU, echoes included
 *     pnpm exec node benchmarks/server/tables.ts dnscannon   # a whole CPU, as many as dnscannon can send
 *     pnpm exec node benchmarks/server/tables.ts workers     # cluster mode, two workers under a quota of half a CPU
 *     pnpm exec node benchmarks/server/tables.ts latency     # at 20,000 queries a second, with busy polling
 *
 * What follows the name of the table goes to `bench run`: `--trials 1 --duration 1`. With `--from DIRECTORY`, the table of a run
 * that was made before is printed, and nothing is measured.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Figure {
  readonly median: number;
}

interface Difference {
  readonly relative: number;
  readonly low: number | null;
  readonly high: number | null;
}

interface Case {
  readonly server: string;
  readonly mode: string;
  readonly aa: boolean;
  readonly limitedBy: string;
  readonly summary: {
    readonly qps: Figure;
    readonly cpuSecondsPerQuery: Figure | null;
    readonly memoryBytes: Figure | null;
    readonly cpuCores: Figure | null;
    readonly latencyPercentiles: readonly { readonly percentile: number; readonly seconds: Figure }[] | null;
  } | null;
  readonly comparison: { readonly qps: Difference } | null;
}

/** What is read of a record. */
interface Run {
  readonly servers: readonly { readonly name: string; readonly title: string }[];
  readonly cases: readonly Case[];
}

interface Column {
  readonly title: string;
  readonly cell: (of: Case, run: Run) => string;
}

const NONE = '–';
const microseconds = (figure: Figure | null | undefined) =>
  figure ? `${(figure.median * 1e6).toFixed(2)} µs` : NONE;

/** † marks what was not limited by the server. */
const qps: Column = {
  title: 'QPS',
  cell: ({ summary, limitedBy }) =>
    summary === null
      ? 'failed'
      : `${Math.round(summary.qps.median).toLocaleString('en')}${limitedBy === 'server' ? '' : '†'}`,
};

const againstBaseline: Column = {
  title: 'against CoreDNS (95 %)',
  cell: ({ comparison }) => {
    if (comparison === null) return '1';
    const { relative, low, high } = comparison.qps;
    const times = (value: number) => (1 + value).toFixed(1);
    return low === null || high === null
      ? times(relative)
      : `${times(relative)} (${times(low)} to ${times(high)})`;
  },
};

const cpuPerQuery: Column = {
  title: 'CPU per query',
  cell: ({ summary }) => microseconds(summary?.cpuSecondsPerQuery),
};

const againstEcho: Column = {
  title: 'of the echo in C',
  cell: ({ summary }, { cases }) => {
    const floor = cases.find(({ server }) => server === 'echo')?.summary?.cpuSecondsPerQuery?.median;
    const own = summary?.cpuSecondsPerQuery?.median;
    return floor === undefined || own === undefined ? NONE : `${(own / floor).toFixed(2)} ×`;
  },
};

const cores: Column = {
  title: 'CPUs used',
  cell: ({ summary }) => summary?.cpuCores?.median.toFixed(2) ?? NONE,
};

const memory: Column = {
  title: 'memory',
  cell: ({ summary }) =>
    summary?.memoryBytes ? `${(summary.memoryBytes.median / 2 ** 20).toFixed(1)} MiB` : NONE,
};

const percentile = (wanted: number): Column => ({
  title: `p${wanted}`,
  cell: ({ summary }) => {
    const found = summary?.latencyPercentiles?.find((one) => one.percentile === wanted);
    return found === undefined ? NONE : `${(found.seconds.median * 1000).toFixed(3)} ms`;
  },
});

interface Table {
  readonly flags: string;
  readonly columns: readonly Column[];
}

const saturated = [qps, againstBaseline, cpuPerQuery, againstEcho, cores, memory];
const ALL = 'coredns,dinodns,dinodns-stock,knot,nsd,echo,echo+node';

const TABLES: Readonly<Record<string, Table>> = {
  half: {
    flags: `--servers ${ALL} --tier 0.5 --mode single --duration 4 --warmup 2 --trials 7 --loader dnsperf`,
    columns: saturated,
  },
  dnscannon: {
    flags:
      '--servers coredns,dinodns,knot,nsd,echo --tier 1 --mode single --duration 4 --warmup 2 --trials 7 --loader builtin',
    columns: [qps, againstBaseline, cpuPerQuery, againstEcho, percentile(50), percentile(99)],
  },
  workers: {
    flags:
      '--servers coredns,dinodns,dinodns-stock --tier 0.5 --mode both --workers node --duration 4 --warmup 2 --trials 7 --loader dnsperf',
    columns: [{ title: 'mode', cell: ({ mode }) => mode }, qps, cpuPerQuery, cores],
  },
  latency: {
    flags:
      '--servers coredns,dinodns,dinodns+busy-poll,knot,nsd,echo,echo+node --tier 1 --mode single --rate 20000 --duration 4 --warmup 2 --trials 7 --loader builtin',
    columns: [percentile(50), percentile(90), percentile(99), percentile(99.9), cpuPerQuery, againstEcho],
  },
};

function measured(flags: readonly string[]): Run {
  const out = mkdtempSync(join(tmpdir(), 'server-tables-'));
  try {
    const stdout = execFileSync('bench', ['run', ...flags, '--no-calibrate', '--out', out, '--json'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PATH: `${join(import.meta.dirname, '../../node_modules/.bin')}:${process.env.PATH}`,
      },
    });
    return JSON.parse(stdout) as Run;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function print(run: Run, { columns }: Table): void {
  const rows = run.cases
    .filter(({ aa }) => !aa)
    .map((of) => [
      run.servers.find(({ name }) => name === of.server)?.title ?? of.server,
      ...columns.map(({ cell }) => cell(of, run)),
    ]);
  const lines = [
    ['server', ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...rows,
  ];
  console.log(lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n'));
  if (rows.some((cells) => cells.some((cell) => cell.endsWith('†'))))
    console.log('\n† not limited by the server.');
}

const [name = '', ...given] = process.argv.slice(2);
const table = TABLES[name];
if (table === undefined) {
  console.error(`which table? ${Object.keys(TABLES).join(', ')}`);
  process.exit(2);
}
const [flag, from] = given;
if (flag === '--from' && from !== undefined) {
  print(JSON.parse(readFileSync(join(from, 'run.json'), 'utf8')) as Run, table);
} else {
  console.log(`bench run ${[table.flags, ...given].join(' ')}\n`);
  print(measured([...table.flags.split(' '), ...given]), table);
}
