/** Versions, workloads, rates and transports in every format: what varies is named, and no two lines are alike. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { groupAcrossModes, groupCases } from '../src/report/cases.ts';
import { nameOf } from '../src/report/compare/charts/data.ts';
import { findings } from '../src/report/findings.ts';
import { formats } from '../src/report/index.ts';
import { renderOpenMetrics } from '../src/report/openmetrics.ts';
import { renderPerfDash } from '../src/report/perf-dash.ts';
import { filesOf } from '../src/report/renderer.ts';
import { type CaseInput, makeRecord } from './fixtures/make-record.ts';
import { parseRecord } from './support/parse-record.ts';
import { renderCsv, renderers, renderPost } from './support/render.ts';

const SERVERS = ['coredns@1.11.3', 'coredns@1.13.1+file', 'dinodns'];
const POINTS = (['udp', 'tls'] as const).flatMap((transport) =>
  ['internal', 'external'].flatMap((workload) =>
    [2000, null].flatMap((ratePerSecond) =>
      (['single', 'multi'] as const).map((mode) => ({ transport, workload, ratePerSecond, mode })),
    ),
  ),
);

const cases = SERVERS.flatMap((server, index) =>
  POINTS.map((point, place): CaseInput => {
    const level = 1000 + 100 * index + place;
    return { server, ...point, trials: [{ qps: level }, { qps: level * 1.01 }, { qps: level * 0.99 }] };
  }),
);
const record = makeRecord({ cases, baseline: 'coredns@1.11.3' });
const look = { delta: 'relative' as const };

function expectDistinct(lines: readonly string[], count = lines.length): void {
  expect(lines).toHaveLength(count);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
}

const render = (name: string) => renderers.find((item) => item.name === name)?.render(record, look) ?? '';

describe('a run over all axes', () => {
  it('has a group for each point, titled by what varies and nothing else', () => {
    const titles = groupCases(record).map(({ title }) => title);
    expectDistinct(titles, 16);
    expect(titles).toContain('Tier 1, single, workload internal, tls, at 2,000 QPS');
    expect(titles).toContain('Tier 1, multi, workload external, udp, unlimited');
    const alike = makeRecord({
      cases: cases.filter(({ transport, workload }) => transport === 'tls' && workload === 'internal'),
    });
    expect(groupCases(alike).map(({ title }) => title)).toEqual([
      'Tier 1, single, at 2,000 QPS',
      'Tier 1, multi, at 2,000 QPS',
      'Tier 1, single, unlimited',
      'Tier 1, multi, unlimited',
    ]);
  });

  it('has tables across modes that hold each case once', () => {
    const groups = groupAcrossModes(record);
    expectDistinct(
      groups.map(({ title }) => title),
      8,
    );
    expect(groups[0]?.title).toBe('1 CPU, workload internal, udp, at 2,000 QPS');
    expectDistinct(
      groups.flatMap((group) => group.cases.map(({ key }) => key)),
      48,
    );
    for (const { baseline } of groups) expect(baseline?.mode).toBe('multi');
  });

  it('names servers with version and variant', () => {
    for (const name of ['terminal', 'markdown', 'github']) {
      expect(render(name)).toContain('CoreDNS 1.11.3');
      // The terminal may break a title over two lines.
      expect(render(name).replaceAll(/\s+/g, ' ')).toContain('CoreDNS 1.13.1');
    }
  });

  it('has distinct series in OpenMetrics', () => {
    const series = renderOpenMetrics(record)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.replace(/ \S+$/, ''));
    expectDistinct(series);
    expect(series.join('\n')).toMatch(/server="coredns@1\.13\.1\+file".*transport="tls",rate="2000"/);
    expect(series.join('\n')).toContain('rate="max"');
  });

  it('has distinct labels for perf-dash', () => {
    const { dataItems } = JSON.parse(renderPerfDash(record));
    expectDistinct(dataItems.map(({ labels }: { labels: object }) => JSON.stringify(labels)));
  });

  it('has as many names in the Go benchmark format as there are cases', () => {
    const names = render('benchstat').match(/^Benchmark\S+/gm) ?? [];
    expect(new Set(names).size).toBe(48);
    expect(names).toContain(
      'BenchmarkDNS/server=coredns@1.13.1+file/tier=1/mode=multi/workload=external/transport=tls/rate=2000',
    );
    expect(names).toContain('BenchmarkDNS/server=dinodns/tier=1/mode=single/workload=internal/transport=udp');
  });

  it('has the rate in the CSV, empty without a limit', () => {
    const [head = '', ...rows] = renderCsv(record).trimEnd().split('\n');
    const column = head.split(',').indexOf('rate_per_second');
    expect(column).toBeGreaterThan(0);
    const rates = rows.map((row) => row.split(',').at(column));
    expect(new Set(rates)).toEqual(new Set(['2000', '']));
  });

  it('has distinct lines in its Markdown tables and verdicts', () => {
    const sections = render('markdown').split(/^## /m);
    for (const section of sections.slice(1)) {
      const heading = section.split('\n')[0];
      if (!heading?.startsWith('Tier')) continue;
      const table = section.split('### Uncertainty')[0] ?? '';
      expectDistinct((table.match(/^\| [^:|]+\|/gm) ?? []).slice(1), 3);
    }
    expectDistinct((render('markdown').split('## ')[0] ?? '').match(/^- .*/gm) ?? [], 32);
    expectDistinct(render('github').match(/^\| Tier [^|]*\| [^|]*\|/gm) ?? [], 48);
  });

  it('names charts, findings and posts by the whole point', async () => {
    expectDistinct(
      record.cases.map((item) => nameOf(record, item)),
      48,
    );
    const [first] = record.cases;
    const floors = record.cases.flatMap(({ key, comparison }) =>
      comparison === null
        ? []
        : [
            {
              caseKey: key,
              comparison,
              floor: { qps: 0.01, latencySeconds: null, cpuSecondsPerQuery: null, memoryBytes: null },
            },
          ],
    );
    expect(first).toBeDefined();
    expectDistinct(
      findings({ ...record, noiseFloors: floors.slice(0, 16) }).filter((line) =>
        line.startsWith('Noise floor'),
      ),
      16,
    );
    const post = await renderPost(record);
    expectDistinct(post.match(/^### .*/gm) ?? [], 8);
  });

  it('has columns and filters for what varies on the page', async () => {
    for await (const { content } of filesOf(
      formats.filter(({ name }) => name === 'html'),
      record,
      look,
    )) {
      const page = String(content);
      for (const name of ['workload', 'transport', 'rate']) expect(page).toContain(`data-filter="${name}"`);
      expect(page).toContain('<option value="max">max</option>');
      expect(page).toContain(
        '&quot;workload&quot;:&quot;external&quot;,&quot;transport&quot;:&quot;tls&quot;,&quot;rate&quot;:&quot;2000&quot;',
      );
    }
  });

  it('fits a terminal of 80 columns', () => {
    for (const line of render('terminal').split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  });
});

it('an old record renders in every format', async () => {
  const path = new URL('fixtures/records/stored.json', import.meta.url);
  const old = parseRecord(await readFile(path, 'utf8'), path.pathname);
  for await (const { path: name, content } of filesOf(formats, old, look)) {
    const text = typeof content === 'string' ? content.replace(/<script>.*<\/script>/s, '') : '';
    expect(text, name).not.toMatch(/undefined|NaN|\[object/);
  }
});
