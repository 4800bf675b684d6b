/** Exports for other programs. `benchstat` and the parser of Prometheus' own client library were tried on them by hand. */
import { describe, expect, it } from 'vitest';
import { renderBenchstat } from '../src/report/benchstat.ts';
import { renderOpenMetrics } from '../src/report/openmetrics.ts';
import { renderPerfDash } from '../src/report/perf-dash.ts';
import { makeRecord } from './fixtures/make-record.ts';

const record = makeRecord({
  cases: [
    { server: 'coredns', trials: [{ qps: 1000 }, { qps: 1010 }, { failed: 'E_SERVER_DIED' }] },
    { server: 'dinodns', trials: [{ qps: 2000 }, { qps: 2020, memoryBytes: null }, { qps: 2010 }] },
    { server: 'knot', trials: [{ failed: 'E_SERVER_START' }] },
  ],
});

/** The Go benchmark format: configuration, unit and result lines. See golang.org/design/14313-benchmark-format. */
function parseGoBenchmarks(text: string) {
  const configuration = new Map<string, string>();
  const units = new Map<string, string>();
  const results: { name: string; iterations: number; values: Map<string, number> }[] = [];
  for (const line of text.split('\n')) {
    const [, key, value] = /^([a-z][^\sA-Z:]*):\s+(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) configuration.set(key, value);
    const words = line.split(/\s+/);
    if (words[0] === 'Unit') units.set(words[1] ?? '', words.slice(2).join(' '));
    if (/^Benchmark[^a-z\s]/.test(line)) {
      const pairs = words.slice(2);
      expect(pairs.length % 2).toBe(0);
      const values = new Map<string, number>();
      for (let at = 0; at < pairs.length; at += 2) values.set(pairs[at + 1] ?? '', Number(pairs[at]));
      results.push({ name: words[0] ?? '', iterations: Number(words[1]), values });
    }
  }
  return { configuration, units, results };
}

it('exports mark figures that something other than the server limited', () => {
  const limited = makeRecord({
    cases: [
      { server: 'coredns', trials: [1000, 1010, 990].map((qps) => ({ qps })) },
      { server: 'dinodns', trials: [2000, 2020, 1990].map((qps) => ({ qps, limitedBy: 'loader' as const })) },
    ],
  });
  const { units, results } = parseGoBenchmarks(renderBenchstat(limited));
  expect(units.get('queries/s-bounded')).toBe('better=higher assume=nothing');
  expect([...(results[1]?.values.keys() ?? [])]).toEqual([
    ...['queries/s-bounded', 'latency-sec-bounded', 'cpu-sec/query', 'mem-bytes'],
  ]);
  const lines = renderOpenMetrics(limited).split('\n');
  const about = (name: string, metric = '') =>
    lines.filter((line) => line.startsWith(`dinodns_bench_${name}{`) && line.includes(metric));
  for (const line of about('queries_per_second'))
    expect(line.includes('bound="true"'), line).toBe(line.includes('server="dinodns"'));
  expect(about('delta_ratio', 'metric="qps"').every((line) => line.includes('bound="true"'))).toBe(true);
  expect(about('delta_ratio', 'metric="latencySeconds"')).toEqual([]);
});

describe('the Go benchmark format', () => {
  it('has a line for each ok trial, with what the case is in its name', () => {
    const { configuration, units, results } = parseGoBenchmarks(renderBenchstat(record));
    expect(configuration.get('run')).toBe(record.id);
    expect(configuration.get('cpu')).toBe('Example CPU @ 2.00GHz');
    expect(units.get('queries/s')).toBe('better=higher assume=nothing');
    expect(results.map(({ name }) => name.split('/')[1])).toEqual([
      'server=coredns',
      'server=dinodns',
      'server=coredns',
      'server=dinodns',
      'server=dinodns',
    ]);
    expect(results[1]?.name).toBe(
      'BenchmarkDNS/server=dinodns/tier=1/mode=single/workload=half/transport=udp',
    );
    expect(results[1]?.iterations).toBe(1_200_000);
    expect(results[1]?.values.get('queries/s')).toBe(2000);
    expect(results[1]?.values.get('cpu-sec/query')).toBe(0.0005);
    // What was not observed is left out, not zero.
    expect(results[3]?.values.has('mem-bytes')).toBe(false);
  });

  it('lets no name break a line or the structure of a name', () => {
    const [first] = record.cases;
    if (first === undefined) throw new Error('no case');
    const hostile = { ...record, cases: [{ ...first, workload: 'a b/c=d\nBenchmarkX 1 1 ns' }] };
    const { results } = parseGoBenchmarks(renderBenchstat(hostile));
    expect(new Set(results.map(({ name }) => name))).toEqual(
      new Set([
        'BenchmarkDNS/server=coredns/tier=1/mode=single/workload=a_b_c_d_BenchmarkX_1_1_ns/transport=udp',
      ]),
    );
  });
});

/** OpenMetrics 1.0, its grammar as far as bench uses it. Throws for anything else. */
function parseOpenMetrics(text: string) {
  const families = new Map<string, { type: string; unit: string; samples: Map<string, number> }>();
  const lines = text.split('\n');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
  let current: { name: string; type: string; unit: string; samples: Map<string, number> } | undefined;
  for (const line of lines.slice(0, -2)) {
    const [, type] = /^# TYPE (\S+ (?:gauge|counter|info))$/.exec(line) ?? [];
    const [, unitName, unit] = /^# UNIT (\S+) (\S+)$/.exec(line) ?? [];
    const help = /^# HELP (\S+) ((?:[^\\"]|\\\\|\\n|\\")+)$/.exec(line);
    const sample = /^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\\\|\\n|\\")*",?)*)\} (\S+)$/.exec(line);
    if (type !== undefined) {
      const [name = '', kind = ''] = type.split(' ');
      expect(families.has(name), `${name} twice`).toBe(false);
      current = { name, type: kind, unit: '', samples: new Map() };
      families.set(name, current);
    } else if (current !== undefined && unit !== undefined) {
      expect(unitName).toBe(current.name);
      expect(current.name.endsWith(`_${unit}`)).toBe(true);
      current.unit = unit;
    } else if (current !== undefined && help !== null) expect(help[1]).toBe(current.name);
    else if (current !== undefined && sample !== null) {
      const suffix = { gauge: '', counter: '_total', info: '_info' }[current.type];
      expect(sample[1]).toBe(`${current.name}${suffix}`);
      expect(current.samples.has(sample[2] ?? ''), `the same sample twice: ${line}`).toBe(false);
      current.samples.set(sample[2] ?? '', Number(sample[3]));
    } else throw new Error(`no OpenMetrics: ${line}`);
  }
  return families;
}

describe('OpenMetrics', () => {
  it('has the figures of all cases in base units, with their intervals', () => {
    const families = parseOpenMetrics(renderOpenMetrics(record));
    const qps = [...(families.get('dinodns_bench_queries_per_second')?.samples ?? [])];
    const of = (server: string, figure: string) =>
      qps.find(
        ([labels]) => labels.includes(`server="${server}"`) && labels.includes(`figure="${figure}"`),
      )?.[1];
    expect(of('coredns', 'median')).toBe(1005);
    expect(of('dinodns', 'low')).toBeLessThan(2010);
    expect(of('knot', 'median')).toBeUndefined();
    expect(families.get('dinodns_bench_latency_seconds')?.unit).toBe('seconds');
    const failed = families.get('dinodns_bench_trials_failed')?.samples ?? new Map();
    expect([...failed.values()]).toEqual([1, 0, 1]);
    expect(families.get('dinodns_bench_delta_ratio')?.samples.size).toBeGreaterThan(3);
  });

  it('escapes what would end a label', () => {
    const hostile = {
      ...record,
      environment: { ...record.environment, hostname: 'a"} 1\n# EOF\\', cpuModel: '"' },
    };
    const [labels] = [
      ...(parseOpenMetrics(renderOpenMetrics(hostile)).get('dinodns_bench_run')?.samples.keys() ?? []),
    ];
    expect(labels).toContain('hostname="a\\"} 1\\n# EOF\\\\"');
  });
});

describe('PerfData', () => {
  it('has what perf-dash reads: version, data of numbers, a unit, labels of text', () => {
    const data: { version: string; dataItems: { data: object; unit: string; labels: object }[] } = JSON.parse(
      renderPerfDash(record),
    );
    expect(data.version).toBe('v1');
    for (const { data: figures, unit, labels } of data.dataItems) {
      expect(Object.values(figures).every((value) => typeof value === 'number')).toBe(true);
      expect(Object.values(labels).every((value) => typeof value === 'string')).toBe(true);
      expect(unit).toMatch(/^(1\/s|ms|MiB|%)$/);
    }
    const latency = data.dataItems.find(
      ({ labels }) =>
        JSON.stringify(labels).includes('"latency"') && JSON.stringify(labels).includes('dinodns'),
    );
    expect(latency?.data).toMatchObject({ median: 2 });
  });
});
