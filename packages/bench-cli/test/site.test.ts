/** `bench site`, through the whole CLI: what is on its pages, and what it refuses. */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slimSvg } from '../src/report/charts/index.ts';
import { leadOf } from '../src/report/lead.ts';
import type { RunRecord } from '../src/results/record.ts';
import { ATTACKS, makeHostileRecord } from './fixtures/make-hostile-record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { RAW_NAMES, referenceText } from './support/reference.ts';
import { noise } from './support/simulate.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const REFERENCE = resolve(import.meta.dirname, '../../../results/reference');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const inSite = (...path: string[]) => join(world.directory, 'site', ...path);

async function save(record: RunRecord, folder = record.id): Promise<void> {
  const directory = join(world.directory, 'results', folder);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'run.json'), JSON.stringify(record));
}

/** A run of day `day` in which the servers answered that many queries a second. */
function runOf(day: number, servers: Readonly<Record<string, readonly number[]>>): RunRecord {
  const date = `202611${String(day).padStart(2, '0')}`;
  return makeRecord({
    cases: Object.entries(servers).map(([server, values]) => ({
      server,
      trials: values.map((qps) => ({ qps })),
    })),
    record: {
      id: `${date}-120000-0001`,
      startedAt: `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`,
    },
  });
}

const ALIKE = [10_000, 10_100, 9900, 10_050, 9950, 10_020, 9980];

/** All files of the site by path. */
async function filesOfSite(): Promise<Map<string, string>> {
  const names = await readdir(inSite(), { recursive: true, withFileTypes: true });
  const paths = names.filter((item) => item.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const)));
}

/** Elements of a picture that are not closed in the order in which they were opened: browsers show none of it then. */
function unclosed(svg: string): string[] {
  const open: string[] = [];
  for (const [, end, name = '', self] of svg.matchAll(/<(\/?)(\w+)(?:\s(?:"[^"]*"|[^">])*?)?(\/?)>/g)) {
    if (end === '/' && open.at(-1) === name) open.pop();
    else if (self !== '/') open.push(`${end}${name}`);
  }
  return open;
}

/** Addresses of a page that lead nowhere. */
function brokenLinks(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([path, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"#]*)(?:#([^"]*))?"/g)].flatMap(([, address = '', id]) => {
      const target = address === '' ? path : resolve(dirname(path), address);
      const found = files.get(target);
      const isThere = found !== undefined && (id === undefined || found.includes(` id="${id}"`));
      return isThere ? [] : [`${path}: ${address}#${id ?? ''}`];
    }),
  );
}

describe('bench site', () => {
  it('shows the published runs: every link leads somewhere, and every picture has its figures', async () => {
    const status = await world.bench('site', '--out', 'site', '--results', REFERENCE);
    expect(world.err()).toMatch(/^\d+ runs, \d+ files, \d+ kB\n$/);
    expect(status).toBe(0);
    const files = await filesOfSite();
    expect(brokenLinks(files)).toEqual([]);
    const published = (await readdir(REFERENCE, { withFileTypes: true })).filter((item) =>
      item.isDirectory(),
    );
    const pages = [...files.keys()].filter((path) => /\/runs\/.*\.html$/.test(path));
    expect(pages).toHaveLength(published.length);
    for (const path of files.keys()) {
      if (path.endsWith('.svg')) {
        expect(files.get(path.replace(/svg$/, 'csv'))).toMatch(/\n.*,/);
        expect(unclosed(files.get(path) ?? ''), path).toEqual([]);
      }
    }
    const start = files.get(inSite('index.html')) ?? '';
    expect(start).toContain('pnpm bench loss --servers dinodns,coredns,knot --tier 0.5');
    expect(start).toContain('2026-11-22');
    for (const question of ['Throughput', 'Loss by load', 'Lookup and connect times', 'memory', 'Swap'])
      expect(start).toContain(question);
    // Machines are named, hosts are not.
    expect(start).toContain('Processor, Kubernetes v1.34.4, load from dnsperf</span>');
    expect(start).not.toContain('<span>vm');
    // The same servers elsewhere do not take the place of the README's run.
    const results = start.slice(start.indexOf('id="questions"'), start.indexOf('id="servers"'));
    for (const run of ['20261122-215511-4b47', '20261128-181830-cbfa'])
      expect(results).toContain(`runs/${run}.html`);
    // A card for each question: its result, when, on what machine, how sure, and the command.
    const cards = results.split('<article').slice(1);
    expect(cards).toHaveLength([...files.keys()].filter((path) => path.includes('/questions/')).length);
    for (const card of cards) {
      const [shown = ''] = card.split('<details>');
      expect(shown).toMatch(/<p class="brief">.+[.…]<\/p>/);
      expect(shown).toMatch(/<p class="meta">.*<span>2026-11-\d\d<\/span> <span>(?:Intel|AMD)/);
      expect(shown).toMatch(/<pre class="command".*>pnpm bench /);
      // Bars, or the picture itself.
      expect(shown).toMatch(/class="in-short"|<img /);
    }
    const verdict =
      /<li>DinoDNS, Tier 1, single <span class="badge good">-66\s%\sCPU\s\[-70,\s-60\]<\/span><\/li>/;
    expect(results).toMatch(verdict);
    expect(results).toContain(
      '<li>DinoDNS (stock), Tier 1, single <span class="badge even">tied</span></li>',
    );
    // Commands, figures for programs and what a search finds are the only places of names that programs use.
    for (const [path, text] of files) {
      if (!/\.(?:html|svg|xml)$/.test(path)) continue;
      const words = text.replaceAll(/<(pre|script)\b.*?<\/\1>| (?:href|src)="[^"]*"/gs, '');
      expect([...words.matchAll(RAW_NAMES)].map(([name]) => `${path}: ${name}`)).toEqual([]);
    }
    const coredns = files.get(inSite('servers', 'coredns.html')) ?? '';
    expect(coredns).toContain('From CoreDNS 1.11.3 to 1.12.4, CPU time per query changed: ');
    expect(coredns).toContain('No other step was shown from CoreDNS 1.9.4 to 1.15.0');
    expect(coredns).toContain(
      '<h3>Tier 1, single, workload half, udp; Intel(R) Xeon(R) Processor, load from dnsperf</h3>',
    );
    // A title that is too long for a card has two lines.
    const limits = [...files.values()].find((text) => /^<svg [^>]*aria-label="Memory limit that/.test(text));
    expect(limits).toMatch(/>Memory limit that CoreDNS needs, by pods<.*>and services</s);
    const cluster = files.get(inSite('servers', 'coredns-in-a-cluster.html')) ?? '';
    expect(cluster).toContain('<h3>Default, 31,600 objects, 1,600 services, 15,000 endpoints; AMD EPYC,');
    // Its picture is of the run with the most versions, in their order.
    const drawn = (files.get(inSite('servers', 'coredns.csv')) ?? '').split('\n').slice(1, 8);
    const versions = ['1.9.4', '1.10.1', '1.11.3', '1.12.4', '1.13.1', '1.14.4', '1.15.0'];
    expect(drawn.map((row) => row.split(',')[0])).toEqual(versions);
    // One page for each kind of server, whatever its runs call it.
    const kinds = [...files.keys()].filter((path) => /\/servers\/(?:coredns|dnsmasq).*html$/.test(path));
    expect(kinds.map((path) => basename(path)).toSorted()).toEqual([
      'coredns-in-a-cluster.html',
      'coredns.html',
      'dnsmasq.html',
    ]);
  });

  it('takes about 2 MB for a hundred runs as large as the published ones', async () => {
    const published = (await readdir(REFERENCE, { withFileTypes: true })).filter((item) =>
      item.isDirectory(),
    );
    const texts = published.map(({ name }) => referenceText(name));
    for (let index = 0; index < 100; index++) {
      const text = texts[index % texts.length] ?? '';
      const { id } = JSON.parse(text);
      const copy = `${id.slice(0, -4)}${index.toString(16).padStart(4, '0')}`;
      await mkdir(join(world.directory, 'results', copy), { recursive: true });
      await writeFile(join(world.directory, 'results', copy, 'run.json'), text.replaceAll(id, copy));
    }
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    const files = await filesOfSite();
    expect([...files.keys()].filter((path) => /\/runs\/.*\.html$/.test(path))).toHaveLength(100);
    const size = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(size).toBeGreaterThan(1e6);
    expect(size).toBeLessThanOrEqual(2.3e6);
  }, 240_000);

  it('says the newest result of each comparison as the report of the run says it, and calls a tie a tie', async () => {
    const faster = ALIKE.map((value) => value * 1.3);
    const newest = runOf(20, { coredns: ALIKE, dinodns: faster });
    await save(runOf(10, { coredns: ALIKE, dinodns: ALIKE }));
    await save(newest);
    // As fast as the baseline but for the noise, and of a higher median: still tied, still in the order of the run.
    await save(runOf(15, { coredns: ALIKE, knot: ALIKE.toReversed().map((value) => value + 1) }));
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    const start = await readFile(inSite('index.html'), 'utf8');
    // One question: the newest run, and the newest of the other comparison folded below it.
    expect(start.split('<article')).toHaveLength(2);
    const plain = (text: string) => text.replaceAll('\u00a0', ' ');
    const [card = '', folded = ''] = plain(start).split('<details>').slice(0, 2);
    expect(leadOf(newest)?.text).toContain(/<p class="brief">(.*?)<\/p>/.exec(card)?.[1]);
    expect(card).toContain('30.0 %');
    expect(folded).toContain('Knot DNS shows no difference');
    expect(folded).not.toContain('20261110-120000-0001.html');
    const knot = await readFile(inSite('runs', '20261115-120000-0001.html'), 'utf8');
    expect(knot.indexOf('CoreDNS</span>')).toBeLessThan(knot.indexOf('Knot DNS</span>'));
    expect(knot).toContain('>tied<');
    // The older run of the same comparison is a page, which the newer one leads to.
    expect(await readFile(inSite('runs', '20261120-120000-0001.html'), 'utf8')).toContain(
      '20261110-120000-0001.html',
    );
  });

  it('begins with the comparisons of which something is sure', async () => {
    await save(runOf(10, { coredns: ALIKE, dinodns: ALIKE }));
    await save(runOf(11, { coredns: [10_000], knot: [10_000] }));
    await world.bench('site', '--out', 'site');
    const start = await readFile(inSite('index.html'), 'utf8');
    const [card = '', folded] = start.split('<article')[1]?.split(', 1 other comparison') ?? [];
    expect(card).toContain('runs/20261110-');
    expect(folded).toContain('runs/20261111-');
  });

  it('marks throughput that something other than the server limited', async () => {
    const record = runOf(1, { coredns: ALIKE, dinodns: ALIKE });
    const cases = record.cases.map((item) =>
      item.server === 'dinodns' ? { ...item, limitedBy: 'loader' as const } : item,
    );
    await save({ ...record, cases });
    await world.bench('site', '--out', 'site');
    expect(await readFile(inSite('servers', 'dinodns.html'), 'utf8')).toContain('at least 10,000');
    expect(await readFile(inSite('servers', 'coredns.html'), 'utf8')).not.toContain('at least 10');
  });

  it('shows a server over its versions, and where its level changed', async () => {
    const random = noise('levels');
    for (let day = 1; day <= 16; day++) {
      const level = day <= 8 ? 10_000 : 8000;
      await save(runOf(day, { coredns: ALIKE.map(() => level * (1 + 0.01 * random.normal())) }));
    }
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    const page = await readFile(inSite('servers', 'coredns.html'), 'utf8');
    const changes = page.slice(page.indexOf('id="changes"'), page.indexOf('id="figures"'));
    expect(changes).toMatch(/Queries per second of CoreDNS: -(?:19|20|21)\.\d\u00a0%/);
    expect(changes).toContain('../runs/20261109-120000-0001.html');
    expect(page.match(/<th scope="row">/g)).toHaveLength(16);
  });

  it('shows hostile text as text', async () => {
    await save(makeHostileRecord(), '20261120-080000-0001');
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    const files = await filesOfSite();
    expect(brokenLinks(files)).toEqual([]);
    for (const [path, text] of files) {
      expect(path).toMatch(/^[\w./-]+$/);
      if (path.endsWith('.js') || path.endsWith('.csv')) continue;
      const scripts = text.match(/<script[^>]*>/g) ?? [];
      expect(scripts).toEqual(
        path.endsWith('index.html')
          ? ['<script type="application/json" id="index">', '<script src="site.js">']
          : [],
      );
      for (const attack of ATTACKS.slice(0, 4)) expect(text.split('id="index"')[0]).not.toContain(attack);
      expect(text).not.toMatch(/<[a-z][^>"]*(?:"[^"]*"[^>"]*)* on\w+=/);
    }
  });

  it('has a feed with an entry for each run, whose addresses are whole if it knows where it will be', async () => {
    await save(runOf(1, { coredns: ALIKE }));
    await save(runOf(2, { coredns: ALIKE }));
    await world.bench('site', '--out', 'site', '--url', 'https://example.org/dns');
    const feed = await readFile(inSite('feed.xml'), 'utf8');
    expect(feed).toMatch(
      /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
    );
    expect(feed.match(/<entry>/g)).toHaveLength(2);
    expect(feed).toContain('href="https://example.org/dns/runs/20261102-120000-0001.html"');
    expect(feed).toContain('<updated>2026-11-02T12:00:00.000Z</updated>');
  });

  it('takes the runs that are named', async () => {
    await save(runOf(1, { coredns: ALIKE }));
    await save(runOf(2, { coredns: ALIKE }));
    expect(await world.bench('site', '--out', 'site', '20261101', 'results/20261101-120000-0001')).toBe(0);
    expect(await readdir(inSite('runs'))).not.toContain('20261102-120000-0001.html');
    expect(await readdir(inSite('runs'))).toContain('20261101-120000-0001.html');
  });
});

describe('bench site refuses', () => {
  it('a directory that it did not make, and replaces one that it made', async () => {
    await save(runOf(1, { coredns: ALIKE }));
    await mkdir(inSite(), { recursive: true });
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    await writeFile(inSite('runs', 'old.html'), 'old');
    await save(runOf(2, { coredns: ALIKE }));
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    expect(await readdir(inSite('runs'))).not.toContain('old.html');
    expect((await readdir(world.directory)).toSorted()).toEqual(['results', 'site']);

    await cp(inSite('index.html'), join(world.directory, 'mine', 'index.html'));
    expect(await world.bench('site', '--out', 'mine')).toBe(2);
    expect(world.err()).toContain('--out mine: the directory is not empty, and bench site did not make it');
    expect(await readdir(join(world.directory, 'mine'))).toEqual(['index.html']);
    expect(await world.bench('site', '--out', 'mine/index.html')).toBe(2);
    expect(world.err()).toContain('it is a file');
  });

  it('to lose a site that cannot be replaced', async () => {
    await save(runOf(1, { coredns: ALIKE }));
    expect(await world.bench('site', '--out', 'site')).toBe(0);
    await save(runOf(2, { coredns: ALIKE }));
    const { rename } = world.fs;
    for (const refused of [inSite(), 'made']) {
      // A mount point cannot be renamed; then the new site cannot be put in the place of the old one.
      const rejects = (from: string, to: string) =>
        refused === 'made' ? to === inSite() && !from.endsWith('.old') : from === refused;
      Object.assign(world.fs, {
        rename: (from: string, to: string) =>
          rejects(from, to)
            ? Promise.reject(Object.assign(new Error('EBUSY: busy'), { code: 'EBUSY' }))
            : rename(from, to),
      });
      expect(await world.bench('site', '--out', 'site')).toBe(7);
      expect(world.err()).toContain('cannot write');
      expect(await readdir(inSite('runs'))).toContain('20261101-120000-0001.html');
      expect((await readdir(world.directory)).toSorted()).toEqual(['results', 'site']);
    }
  });

  it('to make a site of nothing', async () => {
    expect(await world.bench('site', '--out', 'site')).not.toBe(0);
    expect(world.err()).toContain(`there are no runs in ${join(world.directory, 'results')}`);
    expect(world.err()).toContain('bench run');
    expect(await readdir(world.directory)).not.toContain('site');
  });

  // Node.js's own recursive mkdir never returns below /proc.
  it.each(['/proc/x', '/proc/nowhere/here', '/dev/null/here'])(
    'a directory that cannot be made: %s',
    async (out) => {
      await save(runOf(1, { coredns: ALIKE }));
      expect(await world.bench('site', '--out', out)).toBe(7);
      expect(world.err()).toContain(`cannot write ${out}: `);
      expect(world.err()).toContain('fix: Give another path with the flag that names it (of a run, --out)');
    },
  );

  it('to leave out runs that it cannot read, and names them all at once', async () => {
    await save(runOf(1, { coredns: ALIKE }));
    for (const name of ['20261103-120000-0001', '20261104-120000-0001']) {
      await mkdir(join(world.directory, 'results', name));
      await writeFile(join(world.directory, 'results', name, 'run.json'), '{"id": 1');
    }
    expect(await world.bench('site', '--out', 'site')).not.toBe(0);
    expect(world.err()).toContain('2 runs cannot be read');
    expect(world.err()).toContain('20261103-120000-0001');
    expect(world.err()).toContain('20261104-120000-0001');
    expect(world.err()).toContain('Name the runs that belong on the site');
    expect(await readdir(world.directory)).not.toContain('site');
    expect(await world.bench('site', '--out', 'site', 'nothing')).not.toBe(0);
    expect(world.err()).toContain('there is no run "nothing"');
  });

  it('an address that is none', async () => {
    expect(await world.bench('site', '--out', 'site', '--url', 'javascript:x')).toBe(2);
    expect(world.err()).toContain('is not an address of the web');
  });
});

describe('a slim picture', () => {
  it('has shorter coordinates, and every text as it was', () => {
    const text = 'tier 0.125, (0.2625 s) -1.1255';
    const body = `<g role="x" transform="translate(1.2345,-0.06)"><path aria-label="${text}" d="M0.1234,-2.208Z" fill="#ffffff"/>`;
    expect(slimSvg(`<svg aria-label="${text}">${body}<text>${text}</text></g></svg>`)).toBe(
      `<svg aria-label="${text}"><g transform="translate(1.2,-0.06)"><path d="M0.1,-2.2Z" fill="#ffffff"/><text>${text}</text></g></svg>`,
    );
  });

  it('has nothing that nobody sees, and says once what neighbours have in common', () => {
    const texts = [1, 2, 3].map((x) => `<text x="${x}" fill="#000000" opacity="1">${x}</text>`).join('');
    const unseen = '<path d="M0,0h9Z"/><g><g class="x"></g><g/></g><text x="4" fill="#000000"/>';
    const style = '<style>[fill="#000000"]{fill:#fff}[fill="#123456"]{fill:#fff}</style>';
    expect(slimSvg(`<svg>${style}<g><g>${texts}</g>${unseen}</g></svg>`)).toBe(
      '<svg><style>[fill="#000000"]{fill:#fff}</style><g fill="#000000"><text x="1">1</text><text x="2">2</text><text x="3">3</text></g></svg>',
    );
  });
});
