/** One document in every format. */
import { describe, expect, it } from 'vitest';
import { chart, type LineChart, text } from '../src/report/document/document.ts';
import { documentFormats, type ReportDocument } from '../src/report/document/index.ts';
import { MARK_PLACES, markPlaces } from '../src/report/document/mark-places.ts';
import { filesOf, findRenderer, type RenderOptions } from '../src/report/renderer.ts';
import { makeDocument } from './fixtures/make-document.ts';

const formats = documentFormats((document: ReportDocument) => document);
const relative: RenderOptions = { delta: 'relative' };

function rendered(name: string, document: ReportDocument, options = relative): string {
  return findRenderer(name, formats)?.render(document, options) ?? '';
}

async function files(names: readonly string[], document: ReportDocument) {
  const wanted = formats.filter(({ name }) => names.includes(name));
  const found = new Map<string, string | Uint8Array>();
  for await (const { path, content } of filesOf(wanted, document, relative)) found.set(path, content);
  return found;
}

describe('in a terminal, a document', () => {
  it.each([40, 60, 80, 120])('fits into %i columns and keeps its words', (columns) => {
    const shown = rendered('terminal', makeDocument(), { ...relative, columns });
    expect(Math.max(...shown.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(columns);
    for (const word of ['1.13.1', '+13m [+1m, +25m]', 'no difference', 'not visible'])
      expect(shown.replaceAll(/\s+/g, ' ')).toContain(word);
  });

  it('too narrow for words of a table shows each row as a list', () => {
    expect(rendered('terminal', makeDocument(), { ...relative, columns: 40 })).toContain(
      'Verdict: no difference shown',
    );
  });

  it('begins with its lead, has a line below cells, and findings below the section they are of', () => {
    const shown = rendered('terminal', makeDocument());
    expect(shown).toMatch(
      /^CoreDNS 1\.13\.1 uses 16\.1 µs .*\n.*\n*CoreDNS 1\.11\.3 {2}█+[^\sA-Z]? {2}15\.4 µs\n/,
    );
    expect(shown).toMatch(/283m.*\n +±3 %\n/);
    expect(shown).toMatch(/Only in a terminal\.[\s\S]*\n\n• 1\.13\.1 uses more CPU\.\n\n/);
    expect(shown).not.toContain('By placement.');
  });

  it('shows no control character of a record', () => {
    const title = 'red \u001b[31m and \u202ereversed';
    expect(rendered('terminal', makeDocument({ title }))).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });
});

it('as Markdown escapes what would be markup, and has no pictures', () => {
  const shown = rendered('markdown', makeDocument());
  expect(shown).toMatch(/^# CoreDNS 1.11.3 and 1.13.1\n/);
  expect(shown).toContain('| Version | Workload | Placements |');
  expect(shown).toContain('&lt;CPU&gt;');
  expect(shown).toContain('### Only in Markdown\n\nBy placement.');
  expect(shown).not.toContain('Only in a terminal');
  expect(shown).toContain(' 283m ±3 % |');
  expect(shown).toContain('- CPU: 1.13.1 uses more CPU.\n- Memory: **1.13.1, internal** (more): uses');
  expect(shown).toContain('+13m [+1m, +25m]');
  expect(shown).not.toContain('](');
});

it('as Markdown shows the charts that are made beside it', async () => {
  const found = await files(['markdown', 'svg'], makeDocument());
  const named = [...String(found.get('report.md')).matchAll(/\]\((\S+\.svg)\)/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(1);
  expect([...found.keys()]).toEqual(expect.arrayContaining(named));
  expect([...found.keys()]).toHaveLength(named.length + 1);
});

it('for spreadsheets has base units, and no cell that is a formula', () => {
  expect(rendered('csv', makeDocument())).toBe("version,net_cores\n'=1.11.3,0.08\n1.13.1,\n");
});

it('as a page has every section, chart and table, and escapes texts', async () => {
  const page = String((await files(['html'], makeDocument())).get('report.html'));
  for (const part of [
    'id="chart-net"',
    'id="chart-over-time"',
    'figures-table',
    '&lt;CPU&gt;',
    'data-copy="code-1-2"',
    '<summary>Corefile</summary>',
    'class="card in-short"',
    '<h3>Memory</h3>',
    'id="chart-difference"',
  ])
    expect(page).toContain(part);
  expect(page).not.toContain('<CPU>');
});

it('as a post refers to exactly the pictures that lie beside it', async () => {
  const found = await files(['blog'], makeDocument());
  const text = String(found.get('blog/index.md'));
  const named = [...text.matchAll(/\]\(\.\/(\S+\.svg)\)/g)].map(([, name]) => `blog/${name}`);
  expect(named).toEqual(['blog/net.svg', 'blog/difference.svg', 'blog/over-time.svg']);
  expect([...found.keys()]).toEqual(['blog/index.md', ...named]);
  expect(text).toMatch(/^---\nslug: swap\n/);
});

it('as pictures shows bands, whiskers and samples', async () => {
  const found = await files(['svg'], makeDocument());
  const net = String(found.get('charts/net.svg'));
  expect(net.match(/aria-label="1\.1[13]\.[13], (in|ex)ternal"/g)).toHaveLength(4);
  // Once for the whole file, and not for each of its texts.
  expect(net.match(/font-family=/g)).toHaveLength(1);
  const time = String(found.get('charts/over-time.svg'));
  expect(time.match(/aria-label="after \d+ s"/g)).toHaveLength(40);
  expect(time).toContain('limit');
});

it('draws a difference with its bound, and a panel that would be flat with an axis of its own', async () => {
  const difference = String((await files(['svg'], makeDocument())).get('charts/difference.svg'));
  expect(difference.match(/aria-label="(?:internal|external): /g)).toHaveLength(2);
  expect(difference).toContain('at least +300.0 %');
  const axes = async (...others: number[]) => {
    const panels = [100, ...others].map((y, index) => ({
      title: `panel ${index}`,
      lines: [{ series: '1.11.3', points: [1, 2].map((x) => ({ x, y: y * x, tip: `${x}` })) }],
    }));
    const drawn = chart({
      type: 'lines',
      name: 'panels',
      title: 'Panels',
      caption: '',
      xAxis: 'horizontal axis',
      yAxis: 'vertical axis',
      panels,
    });
    const svg = (
      await files(['svg'], makeDocument({ sections: [{ title: 'Panels', blocks: [drawn] }] }))
    ).get('charts/panels.svg');
    return ['vertical', 'horizontal'].map(
      (name) => String(svg).match(new RegExp(`>${name} axis<`, 'g'))?.length,
    );
  };
  expect(await axes(90)).toEqual([1, 2]);
  expect(await axes(2)).toEqual([2, 2]);
  // Zero is flat on any axis; and under an axis of all, panels with others of their own would be in the wrong place.
  expect(await axes(0, 90, 90, 90, 90)).toEqual([2, 3]);
  expect(await axes(2, 90, 90, 90, 90)).toEqual([6, 6]);
});

it('puts the label of a level at the end and on the side where no line of data is', () => {
  const rising = { series: 'a', points: [0, 10].map((x) => ({ x, y: 10 + x * 9, tip: '' })) };
  const flat = (y: number) => ({ series: 'b', points: [0, 10].map((x) => ({ x, y, tip: '' })) });
  const placeOf = (...lines: LineChart['panels'][number]['lines']) => {
    const panel = { title: '', lines, marks: [{ y: 50, label: 'limit of today' }] };
    const drawn = { type: 'lines', name: '', title: '', caption: '', xAxis: '', yAxis: '' } as const;
    const size = { width: 400, height: 200 };
    const [place = -1] = markPlaces({ ...drawn, panels: [panel] }, panel, [panel], size, 11);
    return MARK_PLACES[place];
  };
  expect(placeOf(rising)).toEqual({ align: 'left', isAbove: true });
  const falling = { ...rising, points: rising.points.map(({ x, ...rest }) => ({ ...rest, x: 10 - x })) };
  const early = { ...rising, points: [0, 3, 10].map((x) => ({ x, y: x < 3 ? 45 : 100, tip: '' })) };
  expect(placeOf(early)).toEqual({ align: 'right', isAbove: true });
  expect(placeOf(rising, falling, flat(55))).toMatchObject({ isAbove: false });
});

it('on a page has panels one below the other, and addresses as links', async () => {
  const at = [1, 2].map((x) => ({ x, y: x, tip: '' }));
  const panels = ['one', 'two'].map((title) => ({ title, lines: [{ series: '1.11.3', points: at }] }));
  const drawn = chart({ type: 'lines', name: 'p', title: 'P', caption: '', xAxis: 'x', yAxis: 'y', panels });
  const sections = [
    { title: 'P', blocks: [drawn, text('Source: (https://example.org/a/b.go); "https://x.org".')] },
  ];
  const page = String((await files(['html'], makeDocument({ sections }))).get('report.html'));
  expect(page).toContain('(<a href="https://example.org/a/b.go">https://example.org/a/b.go</a>); &quot;');
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(page.slice(page.indexOf('id="chart-p"'))) ?? [];
  expect(Number(height)).toBeGreaterThan(Number(width) * 0.8);
});

it('writes zero without a unit on an axis of thousands', async () => {
  const points = [0, 50_000].map((x) => ({ x, y: 1, tip: '' }));
  const panels = [{ title: '', lines: [{ series: '1.11.3', points }] }];
  const drawn = chart({ type: 'lines', name: 'p', title: 'P', caption: '', xAxis: 'x', yAxis: 'y', panels });
  const found = await files(['svg'], makeDocument({ sections: [{ title: 'P', blocks: [drawn] }] }));
  const svg = String(found.get('charts/p.svg'));
  expect(svg).toContain('>50k<');
  expect(svg).not.toContain('>0k<');
});

it('names only series that are drawn, in the legend of a picture and in the buttons of a page', async () => {
  const at = [1, 2].map((x) => ({ x, y: x, tip: '' }));
  const lineOf = (series: string, points = at) => ({ series, points });
  const drawn = (name: string, panels: LineChart['panels']) =>
    chart({ type: 'lines', name, title: name, caption: '', xAxis: 'x', yAxis: 'y', panels });
  const bars = chart({
    ...{ type: 'intervals', name: 'bars', title: 'bars', caption: '', axis: 'y' },
    groups: [
      {
        label: '',
        points: ['first', 'third'].map((series) => ({
          ...{ series, value: series === 'first' ? null : 1, low: null, high: null, tip: '' },
        })),
      },
    ],
  });
  const sections = [
    {
      title: 'Lines',
      blocks: [
        drawn('lines', [{ title: '', lines: [lineOf('first'), lineOf('second', []), lineOf('third')] }]),
        drawn('bands', [
          { title: '', lines: [lineOf('first')], bands: [{ from: 1, to: 2, series: 'second' }] },
        ]),
      ],
    },
    { title: 'Bars', blocks: [bars] },
  ];
  const series = ['first', 'second', 'third', 'fourth'].map((name) => ({ name, title: `the ${name}` }));
  const found = await files(['svg', 'html'], makeDocument({ series, sections }));
  const named = (text: string) => [...text.matchAll(/>the (\w+)</g)].map(([, name]) => name);
  expect(named(String(found.get('charts/lines.svg')))).toEqual(['first', 'third']);
  expect(named(String(found.get('charts/bands.svg')))).toEqual(['first', 'second']);
  expect(named(String(found.get('charts/bars.svg')))).toEqual(['third']);
  const [, lines = '', barsPart = ''] = String(found.get('report.html')).split(
    /(?=<section id="(?:lines|bars)")/,
  );
  const buttons = (part: string) => [...part.matchAll(/data-server="(\d)"/g)].map(([, place]) => place);
  expect(buttons(lines)).toEqual(['0', '1', '2']);
  // A single series needs none.
  expect(buttons(barsPart)).toEqual([]);
});
