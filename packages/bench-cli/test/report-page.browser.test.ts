/** The page in a real browser: from disk, without network, by pointer and by keyboard, wide and narrow. */
import { createHash } from 'node:crypto';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import { ATTACKS, makeHostileRecord } from './fixtures/make-hostile-record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { makeRichRecord } from './fixtures/make-rich-record.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';
import { renderHtml } from './support/render.ts';

const { describe, it } = fileNeeds('chromium');

const record = makeRichRecord({ tiers: [1, 2] });
const firstKey = record.trials[0]?.key ?? '';
const raw = new Map([
  [
    firstKey,
    [
      {
        path: 'raw/001-coredns tier1/dnsperf-load-1.txt',
        text: 'DNS Performance Testing Tool\n<b>100 %</b>\n',
      },
      { path: 'raw/001-coredns tier1/queries.log', text: null },
    ],
  ],
]);

let browser: TestBrowser;
let html: string;
beforeAll(async () => {
  browser = await startBrowser();
  html = await renderHtml(record, { delta: 'relative', raw });
});
afterAll(() => browser?.close());

describe('the page', () => {
  it('opens from disk without asking for anything, and nothing of it is refused by its own policy', async () => {
    const { page, complaints } = await browser.open(html);
    expect(await page.title()).toContain('CoreDNS, DinoDNS (stock), DinoDNS and Knot DNS');
    expect(await page.locator('table.cases tbody tr').count()).toBe(record.cases.length);
    expect(await page.locator('figure.chart svg').count()).toBe(8);
    expect(complaints).toEqual([]);
  });

  it('allows its own style and script by hash, and nothing else', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? '';
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toContain(`script-src ${hash(inside('script'))};`);
    expect(policy).toContain(`style-src ${hash(inside('style'))};`);
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toContain('unsafe');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/ (?:style|on\w+)="/);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('sorts by a column, numbers as numbers, and back to the order of the plan', async () => {
    const { page } = await browser.open(html);
    const heading = page.locator('table.cases thead th', { hasText: 'QPS' }).first();
    const figures = () =>
      page
        .locator('table.cases tbody tr')
        .evaluateAll((rows) =>
          rows.map((row) => Number(row.querySelector('[data-label="QPS"]')?.getAttribute('data-sort'))),
        );
    const planned = await figures();
    await heading.locator('button').click();
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    expect(await figures()).toEqual(planned.toSorted((a, b) => b - a));
    await heading.locator('button').press('Enter');
    expect(await heading.getAttribute('aria-sort')).toBe('ascending');
    expect(await figures()).toEqual(planned.toSorted((a, b) => a - b));
    await heading.locator('button').press('Space');
    expect(await heading.getAttribute('aria-sort')).toBeNull();
    expect(await figures()).toEqual(planned);
  });

  it('filters by words, by fields and by server, and says how many are left', async () => {
    const { page } = await browser.open(html);
    const visible = page.locator('table.cases tbody tr:visible');
    await page.locator('[data-filter="text"]').fill('knot multi');
    expect(await visible.count()).toBe(2);
    expect(await page.locator('[data-count]').textContent()).toBe('2 of 16 cases');
    await page.locator('[data-filter="tier"]').selectOption('2');
    expect(await visible.count()).toBe(1);
    await page.locator('[data-filter="text"]').fill('nothing like it');
    await expect.poll(() => page.locator('.empty').isVisible()).toBe(true);
    await page.locator('[data-filter="text"]').fill('');
    await page.locator('.chip', { hasText: 'Knot DNS' }).click();
    expect(await visible.count()).toBe(6);
    // Its marks are gone from every chart, too.
    const color = await page.locator('.chip', { hasText: 'Knot DNS' }).locator('path').getAttribute('fill');
    expect(await page.locator(`#chart-qps [fill="${color}"]:visible`).count()).toBe(0);
    expect(await page.locator('#chart-qps [fill="#64748b"]:visible').count()).toBeGreaterThan(0);
  });

  it('explains every mark on hover and on focus, and within the window', async () => {
    const { page } = await browser.open(html, { width: 390 });
    const marks = page.locator('table.cases .mark');
    const tip = page.locator('#tip');
    expect(await marks.count()).toBeGreaterThan(10);
    for (const [index, use] of (['hover', 'focus'] as const).entries()) {
      const mark = marks.nth(index + 3);
      await mark.scrollIntoViewIfNeeded();
      await (use === 'hover' ? mark.hover() : mark.focus());
      await expect.poll(() => tip.textContent()).toBe(await mark.getAttribute('data-tip'));
      expect(await tip.isVisible()).toBe(true);
      const box = await tip.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
      await page.keyboard.press('Escape');
      await expect.poll(() => tip.isVisible()).toBe(false);
    }
    expect(
      await marks.evaluateAll((all) => all.filter((mark) => !mark.getAttribute('data-tip')).length),
    ).toBe(0);
  });

  it('tells the figures of a chart by pointer and by arrow keys', async () => {
    const { page } = await browser.open(html);
    const tip = page.locator('#tip');
    const plot = page.locator('#chart-qps .plot');
    await plot.scrollIntoViewIfNeeded();
    const bar = plot.locator('[role="graphics-symbol"][aria-label*="median"]').first();
    await bar.hover();
    await expect.poll(() => tip.textContent()).toMatch(/^CoreDNS, tier 1, single/);
    await plot.focus();
    const seen = new Set<string | null>();
    for (let step = 0; step < 5; step++) {
      await page.keyboard.press('ArrowRight');
      seen.add(await tip.textContent());
    }
    expect(seen.size).toBe(5);
    await page.keyboard.press('End');
    await expect.poll(() => tip.textContent()).toMatch(/^Knot DNS, tier 2, multi/);
  });

  it('has the raw output of a trial one click away', async () => {
    const { page, complaints } = await browser.open(html);
    await page.locator('table.cases a', { hasText: '6 of 6' }).first().click();
    const trials = page.locator('#case-1');
    await expect.poll(() => trials.getAttribute('open')).not.toBeNull();
    await trials.locator('summary', { hasText: 'raw output' }).click();
    const text = await trials.locator('.raw pre').nth(1).textContent();
    expect(text).toBe('DNS Performance Testing Tool\n<b>100 %</b>\n');
    const links = await trials
      .locator('.raw a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual([
      'raw/001-coredns%20tier1/dnsperf-load-1.txt',
      'raw/001-coredns%20tier1/queries.log',
    ]);
    expect(complaints).toEqual([]);
  });

  it.each([360, 390, 768, 1280])('fits a window of %i pixels without scrolling sideways', async (width) => {
    const { page } = await browser.open(html, { width });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    // Text in charts stays legible: font size times the scale at which the chart is drawn.
    const sizes = await page
      .locator('figure.chart svg')
      .evaluateAll((all) =>
        all.map(
          (svg) =>
            (12 * svg.getBoundingClientRect().width) / Number(svg.getAttribute('viewBox')?.split(' ')[2]),
        ),
      );
    expect(Math.min(...sizes)).toBeGreaterThan(7.5);
  });

  it('is dark where the system is, light where the reader wants it, and light on paper', async () => {
    const { page } = await browser.open(html, { dark: true });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const ink = () => page.evaluate("getComputedStyle(document.querySelector('#chart-qps svg text')).fill");
    expect(await background()).toBe('rgb(10, 16, 29)');
    expect(await ink()).toBe('rgb(163, 176, 194)');
    await page.locator('.theme').click();
    expect(await page.locator('.theme').textContent()).toBe('Theme: light');
    expect(await background()).toBe('rgb(244, 246, 249)');
    expect(await ink()).toBe('rgb(91, 103, 122)');
    await page.locator('.theme').click();
    expect(await background()).toBe('rgb(10, 16, 29)');
    await page.emulateMedia({ media: 'print' });
    expect(await background()).toBe('rgb(255, 255, 255)');
    expect(await ink()).toBe('rgb(91, 103, 122)');
    expect(await page.locator('.top').isVisible()).toBe(false);
  });

  it('is readable without its script', async () => {
    const { page } = await browser.open(html, { noScript: true });
    expect(await page.locator('.filters').isVisible()).toBe(false);
    expect(await page.locator('table.cases tbody tr:visible').count()).toBe(16);
    expect(await page.locator('.legend li').count()).toBeGreaterThan(1);
  });

  it('has a name for everything that can be focused, and a label for every field', async () => {
    const { page } = await browser.open(html);
    const nameless = await page
      .locator('a[href], button, input, select, [tabindex="0"]')
      .evaluateAll((all) =>
        all
          .filter(
            (element) =>
              !element.closest('label') &&
              !element.getAttribute('aria-label') &&
              !element.textContent?.trim(),
          )
          .map((element) => element.outerHTML.slice(0, 80)),
      );
    expect(nameless).toEqual([]);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.evaluate('document.documentElement.lang')).toBe('en');
  });

  it('says what there is where nothing was measured', async () => {
    const empty = makeRecord({
      cases: [{ server: 'coredns', trials: [{ failed: 'E_SERVER_START', message: 'port taken' }] }],
    });
    const { page, complaints } = await browser.open(await renderHtml(empty, { delta: 'relative' }));
    expect(await page.locator('.status').textContent()).toBe('No result: the only trial failed.');
    expect(await page.locator('figure.chart').count()).toBe(0);
    expect(await page.locator('#charts').textContent()).toContain('Throughput');
    await page.locator('details.trials summary').first().click();
    expect(await page.locator('tr.failed').first().textContent()).toContain('port taken');
    expect(complaints).toEqual([]);
  });
});

/** Runs in the page: what an attack would have left there. */
const INSPECTION = `({
  attacked: 'attacked' in globalThis,
  scripts: document.scripts.length,
  foreign: document.querySelectorAll('img, iframe, object, embed, base, form, link').length,
  handlers: [...document.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].filter(({ name }) => name.startsWith('on') || name === 'style')).length,
  addresses: [...document.querySelectorAll('[href], [src]')]
    .map((element) => element.getAttribute('href') ?? element.getAttribute('src') ?? '')
    .filter((address) => !/^(#|run\\.json$|raw\\/)/.test(address)),
  rows: document.querySelectorAll('table.cases tbody tr').length,
})`;

describe('a hostile record', () => {
  it.each([ATTACKS[1] ?? '', ATTACKS[3] ?? '', ATTACKS.join('')])(
    'is only text on the page: %j',
    async (attack) => {
      const hostile = makeHostileRecord(attack);
      const path = `raw/${attack}/x.txt`;
      const text = await renderHtml(hostile, {
        delta: 'relative',
        raw: new Map([[hostile.trials[0]?.key ?? '', [{ path, text: attack }]]]),
      });
      const { page, complaints } = await browser.open(text);
      expect(complaints).toEqual([]);
      const found = await page.evaluate(INSPECTION);
      expect(found).toEqual({
        attacked: false,
        scripts: 1,
        foreign: 0,
        handlers: 0,
        addresses: [],
        rows: hostile.cases.length,
      });
      // It is all there, as text: what cannot be in a document is replaced.
      const shown = attack.replaceAll(
        /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu,
        '\ufffd',
      );
      const content = (await page.locator('#environment').textContent()) ?? '';
      expect(content.replaceAll(/\s+/g, ' ')).toContain(shown.replaceAll(/\s+/g, ' ').trim());
      // Its marks and charts still explain themselves, with the attack as text.
      await page.locator('table.cases .mark').first().focus();
      expect(await page.locator('#tip').isVisible()).toBe(true);
      expect(await page.locator('#tip *').count()).toBe(0);
    },
  );
});
