import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PAGE_LOOK } from '../src/report/charts/chart.ts';
import { darkened, pngOf } from '../src/report/charts/index.ts';
import { textWidth } from '../src/report/charts/text-width.ts';
import { seriesOf } from '../src/report/compare/charts/data.ts';
import { nines } from '../src/report/compare/charts/percentiles.ts';
import { shownOf } from '../src/stats/decisive.ts';
import { ATTACKS, makeHostileRecord } from './fixtures/make-hostile-record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { makeRichRecord } from './fixtures/make-rich-record.ts';
import { parseRecord } from './support/parse-record.ts';
import { plotsOf } from './support/render.ts';

const rich = makeRichRecord();

const CHARTS = [
  'difference',
  'qps',
  'latency',
  'latency-percentiles',
  'cpu-per-query',
  'memory',
  'scaling',
  'over-time',
];

async function svgOf(name: string, of = rich): Promise<string> {
  return (await plotsOf(of)).svg(name);
}

/** What the points and bars of a chart say when they are asked. */
const labelsOf = (svg: string) =>
  [...svg.matchAll(/<path aria-label="([^"]*)" role="graphics-symbol"/g)].map((match) => match[1] ?? '');

/** Width, height of a PNG, from its IHDR chunk. */
const sizeOf = (png: Uint8Array) =>
  [16, 20].map((offset) => new DataView(png.buffer, png.byteOffset).getUint32(offset));

describe('the charts', () => {
  it('are all drawn from a record that has data for them', async () => {
    const { drawn, missing } = await plotsOf(rich);
    expect(drawn.map(({ name }) => name)).toEqual(CHARTS);
    expect(missing).toBe('');
  });

  it('are left out and named, with the reason, where a record has no data for them', async () => {
    const text = await readFile(new URL('fixtures/records/stored.json', import.meta.url), 'utf8');
    const { drawn, missing } = await plotsOf(parseRecord(text, 'run.json'), 'relative', PAGE_LOOK);
    expect(drawn.map(({ name }) => name)).toContain('qps');
    expect(missing).toContain('“Latency percentiles”, because the load generator reported none');
    expect(missing).toContain('“Scaling with CPUs”, because no server was measured in two tiers');
    const empty = makeRecord({ cases: [{ server: 'coredns', trials: [{ failed: 'E_ALL_LOST' }] }] });
    const nothing = await plotsOf(empty, 'relative', PAGE_LOOK);
    expect(nothing.drawn).toEqual([]);
    expect(nothing.missing.match(/“[^”]+”, because \w+/g)).toHaveLength(CHARTS.length);
  });

  it('show each median with its interval and each single trial, with units', async () => {
    const labels = labelsOf(await svgOf('qps'));
    const ok = rich.trials.filter(({ status }) => status === 'ok').length;
    expect(labels.filter((label) => label.includes('median'))).toHaveLength(rich.cases.length);
    expect(labels.filter((label) => label.includes(', trial '))).toHaveLength(ok);
    expect(labels[0]).toMatch(
      /^CoreDNS, tier 0\.5, single: median [\d,]+ queries\/s; 95 % interval [\d,]+ queries\/s to [\d,]+ queries\/s, 6 trials$/,
    );
    expect(await svgOf('qps')).toContain('>queries per second<');
    expect(await svgOf('latency')).toContain('>average latency (ms)<');
    expect(await svgOf('cpu-per-query')).toContain('>CPU time per query (µs)<');
    expect(await svgOf('memory')).toContain('>memory (MiB)<');
  });

  it('draw a whisker for every interval: three lines in the colour of the server', async () => {
    const svg = await svgOf('memory');
    const whiskers = svg.match(/<line[^>]*stroke="#64748b"[^>]*stroke-width="2"/g) ?? [];
    // Six points of the matrix; the caps are rectangles of the same colour.
    expect(whiskers).toHaveLength(6);
  });

  it('tell the verdicts, with the noise floor where there is one', async () => {
    const [item] = rich.cases.filter(({ comparison }) => comparison !== null);
    if (item?.comparison == null) throw new Error('no comparison');
    const floor = { qps: 0.02, latencySeconds: null, cpuSecondsPerQuery: null, memoryBytes: null };
    const noisy = { ...rich, noiseFloors: [{ caseKey: item.key, comparison: item.comparison, floor }] };
    const { drawn } = await plotsOf(noisy, 'symmetric');
    const [difference] = drawn;
    expect(difference?.caption).toContain('symmetric delta');
    expect(difference?.caption).toContain('noise floor');
    expect(difference?.plot.body).toContain('#d3dae4');
    const labels = labelsOf(difference?.plot.body ?? '');
    const shown = rich.cases.map((each) => shownOf(each, rich, 'qps')?.verdict);
    expect(labels).toHaveLength(
      shown.filter((verdict) => verdict !== undefined && verdict !== 'not compared').length,
    );
    // Bounded throughput beyond that of a baseline that was its own limit.
    expect(labels.filter((label) => label.includes(': at least +'))).toHaveLength(2);
    expect(labels.filter((label) => label.endsWith('; a lower bound'))).toHaveLength(2);
    expect(labels.some((label) => label.endsWith('; no difference shown'))).toBe(true);
    expect(labels.some((label) => label.endsWith('; faster'))).toBe(true);
  });

  it('give every further nine of a percentile as much room', () => {
    expect([0, 90, 99, 99.9].map((percentile) => Number(nines(percentile).toFixed(9)))).toEqual([0, 1, 2, 3]);
  });

  it('show how far from the ideal line a server stays', async () => {
    const labels = labelsOf(await svgOf('scaling'));
    expect(labels).toHaveLength(3 * 2 * 4);
    // 0.85 is the exponent that the figures were made with: 2 ^ 0.85 ÷ 2 is 90 %, 4 ^ 0.85 ÷ 4 is 81 %.
    const share = (tier: string) =>
      labels
        .filter((label) => label.includes(`tier ${tier}, single`))
        .map((label) => Number(/(\d+) % of ideal/.exec(label)?.[1]));
    expect(share('0.5')).toEqual([100, 100, 100, 100]);
    for (const value of share('2')) expect(Math.abs(value - 81)).toBeLessThan(8);
  });

  it('draw at most so many points, and say so', async () => {
    const { drawn } = await plotsOf(
      makeRichRecord({ tiers: [1], modes: ['single'], trials: 500, seconds: 2 }),
    );
    const qps = drawn.find(({ name }) => name === 'qps');
    expect(labelsOf(qps?.plot.body ?? '').filter((label) => label.includes(', trial '))).toHaveLength(
      4 * 150,
    );
    expect(qps?.caption).toContain('of each case 150, evenly chosen');
    expect(drawn.find(({ name }) => name === 'over-time')?.caption).toContain(
      'Drawn are 12 trials of each case',
    );
  });

  it('cut off an interval that would dwarf the figures, and say so; its tip tells the whole', async () => {
    const wild = makeRecord({
      cases: [
        { server: 'coredns', trials: [{ qps: 1000 }, { qps: 1010 }] },
        { server: 'dinodns', trials: [{ qps: 1000 }, { qps: 3000 }] },
      ],
    });
    const high = wild.cases[1]?.summary?.qps.high ?? 0;
    expect(high).toBeGreaterThan(100_000);
    const { drawn } = await plotsOf(wild);
    const qps = drawn.find(({ name }) => name === 'qps');
    expect(qps?.plot.body).toContain('▲');
    expect(qps?.caption).toContain('An arrow means that the interval continues.');
    expect(labelsOf(qps?.plot.body ?? '').join()).toContain(Math.round(high).toLocaleString('en'));
    expect((await plotsOf(rich)).drawn.map(({ caption }) => caption).join()).not.toContain('arrow');
  });

  it('are the same for the same record', async () => {
    const again = makeRichRecord();
    for (const name of CHARTS) expect(await svgOf(name, again)).toBe(await svgOf(name));
  });

  it('suit dark surroundings: every colour has a dark twin', async () => {
    for (const name of CHARTS) {
      const svg = await svgOf(name);
      expect(svg).toContain('@media (prefers-color-scheme: dark)');
      const marked = svg.replace(/<style>[\s\S]*<\/style>/, '');
      const colors = new Set(marked.match(/#[0-9a-f]{6}/g) ?? []);
      const dark = new Set(darkened(marked, seriesOf(rich).length).match(/#[0-9a-f]{6}/g) ?? []);
      expect([...colors].filter((color) => dark.has(color))).toEqual([]);
    }
  });
});

describe('pictures', () => {
  it('are PNGs with text in them, without a font of the system', async () => {
    const png = await pngOf(await svgOf('qps'));
    expect([...png.slice(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
    const [width = 0, height = 0] = sizeOf(png);
    expect(width).toBeGreaterThan(1200);
    expect(height).toBeGreaterThan(600);
    const picture = async (text: string) =>
      (
        await pngOf(
          `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><text x="5" y="20" font-family="Inter">${text}</text></svg>`,
        )
      ).length;
    // Glyphs of every sign that reports use: each must differ from nothing, and from a missing glyph.
    const missing = await picture('\u{10ffff}');
    for (const sign of ['A', 'µ', '±', '−', '×', '≈', '†', '‡', '§', '¶', '…', '÷', 'Δ']) {
      expect(await picture(sign), sign).not.toBe(await picture(' '));
      expect(await picture(sign), sign).not.toBe(missing);
    }
  });
});

describe('the width of a text', () => {
  it('is about that of Inter', () => {
    // Advance widths of Inter 4: 0.6 for digits on average, 0.28 for i.
    expect(textWidth('120,000', 10)).toBeCloseTo(40.5, 0);
    expect(textWidth('iiii', 10)).toBeLessThan(textWidth('mmmm', 10) / 3);
    expect(textWidth('', 10)).toBe(0);
  });
});

describe('a hostile record', () => {
  it.each([ATTACKS[1] ?? '', ATTACKS[3] ?? '', ATTACKS.join('')])(
    'is only text in a chart: %j',
    async (attack) => {
      const plots = await plotsOf(makeHostileRecord(attack));
      expect(plots.drawn.length).toBeGreaterThan(6);
      for (const plot of plots.drawn) {
        const svg = plots.svg(plot.name);
        const tags = new Set([...svg.matchAll(/<\/?([a-zA-Z]+)/g)].map((match) => match[1]));
        expect(
          [...tags]
            .sort()
            .filter(
              (tag) =>
                !['svg', 'desc', 'style', 'rect', 'text', 'tspan', 'g', 'path', 'line'].includes(tag ?? ''),
            ),
        ).toEqual([]);
        // Quotes may stand in text, which is why only tags are looked at.
        const withoutText = svg.replaceAll(/>[^<]*</g, '><');
        expect(withoutText).not.toMatch(/ (?:on\w+|href|xlink:href)="/);
        // A strict parser takes it.
        if (plot.name === 'qps') expect(sizeOf(await pngOf(svg))[0]).toBeGreaterThan(1000);
      }
    },
  );
});
