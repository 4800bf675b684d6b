/** The front matter of posts, read as YAML 1.2 (Docusaurus' parser) and as YAML 1.1 (Hugo's and Jekyll's). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compareDocument } from '../src/report/compare/document.ts';
import { documentPost } from '../src/report/document/markdown.ts';
import type { PostSettings } from '../src/report/front-matter.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const record = makeRecord({
  cases: [
    { server: 'coredns@1.13.1', trials: [{ qps: 1000 }, { qps: 1010 }] },
    { server: 'coredns@1.15.0+file', trials: [{ qps: 900 }, { qps: 910 }] },
  ],
  baseline: 'coredns@1.13.1',
});

function read(post?: PostSettings) {
  const whole = documentPost(compareDocument(record, { delta: 'relative' }), { delta: 'relative', post });
  const text = whole.slice(0, whole.indexOf('\n---\n') + 4);
  expect(text.match(/^---$/gm)).toHaveLength(2);
  const [modern, old] = (['1.2', '1.1'] as const).map((version) =>
    parse(text.slice(4, -4), { version, strict: true }),
  );
  return { modern, old };
}

describe('front matter', () => {
  it('by default follows from the record, with versions and variants in slug, title and tags', () => {
    const { modern } = read();
    expect(modern).toMatchObject({
      slug: 'dns-benchmark-2026-11-21-coredns-1-13-1-coredns-1-15-0-file',
      title: 'How fast do CoreDNS 1.13.1 and CoreDNS 1.15.0 (file) answer?',
      date: '2026-11-21',
      tags: ['benchmark', 'dns', 'coredns@1.13.1', 'coredns@1.15.0+file'],
    });
  });

  it('has what was set', () => {
    const { modern, old } = read({
      authors: ['jafayer'],
      slug: 'load-tests',
      title: 'DinoDNS: again',
      tags: ['updates', 'benchmarks'],
      date: '2026-11-22T09:00:00Z',
    });
    const expected = {
      slug: 'load-tests',
      title: 'DinoDNS: again',
      authors: ['jafayer'],
      tags: ['updates', 'benchmarks'],
    };
    expect(modern).toMatchObject({ ...expected, date: '2026-11-22T09:00:00Z' });
    // YAML 1.1 has a type for it.
    expect(old).toMatchObject({ ...expected, date: new Date('2026-11-22T09:00:00Z') });
  });

  it('names an author who is no key of authors.yml as an object', () => {
    expect(read({ authors: ['jafayer', 'Jane Doe'] }).modern.authors).toEqual([
      'jafayer',
      { name: 'Jane Doe' },
    ]);
  });

  const HOSTILE = [
    '---',
    '"\n---\n# pwned',
    'a: b # c',
    "it's & *anchor !tag %x @y `z`",
    '{ x: 1 } [y] | > - ? ,',
    'yes',
    'null',
    '2026-11-22',
    '\\n \\x00',
    'tab\tand\rreturn',
    'DEL \u007f NEL \u0085 LS \u2028 PS \u2029 BOM \ufeff',
    '日本語 🦕',
  ];

  it.each(HOSTILE)('reads %j back as it is, whatever the parser', (text) => {
    const { modern, old } = read({ title: text, tags: [text, 'x'], authors: [`${text} Doe`] });
    for (const matter of [modern, old]) {
      expect(matter.title).toBe(text);
      expect(matter.tags).toEqual([text, 'x']);
      expect(matter.authors).toEqual([{ name: `${text} Doe` }]);
      expect(Object.keys(matter)).toEqual(['slug', 'title', 'description', 'date', 'authors', 'tags']);
    }
  });
});

describe('bench report --format blog', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await testWorld();
    await mkdir(join(world.directory, 'results', record.id), { recursive: true });
    await writeFile(join(world.directory, 'results', record.id, 'run.json'), JSON.stringify(record));
  });
  afterEach(() => world.remove());

  it('takes the front matter from its flags', async () => {
    const flags = [
      '--post-author',
      'jafayer,Jane Doe',
      '--post-slug',
      '2026/dns-löschen',
      '--post-title',
      ' A\n"B" ',
    ];
    const more = ['--post-tags', 'updates, benchmarks,updates', '--post-date', '2026-11-22'];
    const status = await world.bench('report', 'latest', '--format', 'blog', ...flags, ...more);
    expect(status, world.err()).toBe(0);
    const text = world.out();
    expect(parse(text.slice(4, text.indexOf('\n---\n')))).toMatchObject({
      slug: '2026/dns-löschen',
      title: 'A "B"',
      authors: ['jafayer', { name: 'Jane Doe' }],
      tags: ['updates', 'benchmarks'],
      date: '2026-11-22',
    });
  });

  it.each([
    [['--post-slug', 'two words'], 'must be a path of letters, digits'],
    [['--post-slug', '../x y'], 'must be a path of letters, digits'],
    [['--post-date', '2026-02-30'], 'is not a date'],
    [['--post-date', 'today'], 'is not a date'],
    [['--post-date', '2026-11-22T25:00'], 'is not a date'],
    [['--post-title', ' '], 'is empty'],
    [['--post-tags', 'a,,b'], 'is empty'],
  ])('refuses %j', async (flags, message) => {
    expect(await world.bench('report', 'latest', '--format', 'blog', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.out()).toBe('');
  });

  it('refuses front matter where no post is made', async () => {
    expect(await world.bench('report', 'latest', '--format', 'md', '--post-title', 'x')).toBe(2);
    expect(world.err()).toContain('Add --format blog.');
  });
});
