/** The reports that people paste: the blog post and the comment on a pull request; and texts that others interpret. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from '@mdx-js/mdx';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openRun } from '../src/experiments/registry.ts';
import { compareRuns } from '../src/history/compare.ts';
import { compareDocument } from '../src/history/documents/compare.ts';
import { comparedEstimand, entryOf } from '../src/history/entry.ts';
import { parseReference } from '../src/history/select.ts';
import { compareDocument as runDocument } from '../src/report/compare/document.ts';
import { caveats, verdicts } from '../src/report/compare/post.ts';
import { documentText } from '../src/report/document/terminal.ts';
import { slugFrom } from '../src/report/front-matter.ts';
import { renderGithub } from '../src/report/github.ts';
import { formats } from '../src/report/index.ts';
import { overallSentence, reservations } from '../src/report/overall.ts';
import { filesOf, findFormat, findRenderer } from '../src/report/renderer.ts';
import { verdictSentence } from '../src/report/verdict-sentence.ts';
import { versionSteps } from '../src/report/version-steps.ts';
import type { RunRecord } from '../src/results/record.ts';
import { createStore } from '../src/results/store.ts';
import { realWorld } from '../src/world.ts';
import { ATTACKS, makeHostileRecord } from './fixtures/make-hostile-record.ts';
import { type Measured, makeRecord } from './fixtures/make-record.ts';
import { makeRichRecord } from './fixtures/make-rich-record.ts';
import { parseRecord } from './support/parse-record.ts';
import { RAW_NAMES, referenceFolder, referenceText } from './support/reference.ts';
import {
  filesFor,
  renderCsv,
  renderHtml,
  renderMarkdown,
  renderPost,
  renderTerminal,
} from './support/render.ts';
import { testWorld } from './support/test-world.ts';

const reference = parseRecord(referenceText('local-tier1-both'), 'run.json');
const relative = { delta: 'relative' } as const;

/** As Docusaurus reads it: front matter off, its own comment turned into MDX's. */
function mdxOf(text: string): string {
  const body = text.slice(text.indexOf('\n---\n') + 5);
  return body.replace('<!-- truncate -->', '{/* truncate */}');
}

const around = (qps: number): Measured[] =>
  [1, 1.01, 0.99, 1.005, 0.995, 1.002].map((factor) => ({ qps: qps * factor }));

it('no report calls a server faster or slower that was not the limit; CPU per query may decide', async () => {
  const limitedBy = 'loader' as const;
  const cost = { latencySeconds: 0.001, cpuSecondsPerQuery: 2e-6 };
  const record = makeRecord({
    cases: [
      { server: 'coredns', trials: around(40_010).map((trial) => ({ ...trial, latencySeconds: 0.003 })) },
      { server: 'dinodns', trials: around(111_743).map((trial) => ({ ...trial, ...cost, limitedBy })) },
    ],
  });
  const compared = record.cases[1]?.comparison;
  expect([compared?.qps.verdict, compared?.latencySeconds?.verdict]).toEqual(['faster', 'faster']);
  const post = await renderPost(record);
  const page = await renderHtml(record, relative);
  const reports: Record<string, string> = {
    terminal: renderTerminal(record, { ...relative, columns: 100 }),
    markdown: renderMarkdown(record, relative),
    github: renderGithub(record, relative),
    post,
    page,
  };
  for (const [name, text] of Object.entries(reports)) {
    expect(text, name).toContain('DinoDNS');
    expect(text, name).not.toMatch(/>faster<|\| faster|🟢 [+-]|[0-9] × as many queries|% more queries|▲ [+]/);
  }
  expect(reports.markdown).toContain('not compared');
  // No difference of what is not compared: latencies here, and throughput if the baseline was not the limit.
  expect(reports.markdown).toMatch(/ – \| not compared/);
  const bounded = { ...record, cases: record.cases.map((item) => ({ ...item, limitedBy })) };
  expect(renderGithub(bounded, relative)).toContain('⚪ not compared');
  const entry = entryOf(record);
  const [reference, candidate] = ['coredns', 'dinodns'].map((server) => ({
    entry,
    cases: entry.cases.filter((item) => item.subject === server),
    selector: parseReference(`latest:server=${server}`).selector,
  }));
  if (reference === undefined || candidate === undefined) throw new Error('no case');
  const result = compareRuns(reference, candidate, {
    estimands: [comparedEstimand('qps')],
    interval: 'auto',
    normalize: null,
  });
  // More than a server that was the limit: without the load generator it would be more still.
  expect(result.cases[0]?.figures[0]).toMatchObject({ isBound: [false, true], delta: { verdict: 'faster' } });
  expect(documentText(compareDocument(result), relative)).toMatch(/≥ 11\d,\d+ +≥ \+.* at least this$/m);
  const latency = compareRuns(reference, candidate, {
    estimands: [comparedEstimand('latencySeconds')],
    interval: 'auto',
    normalize: null,
  });
  expect(documentText(compareDocument(latency), relative)).toContain('not compared');
  const turned = compareRuns(candidate, reference, {
    estimands: [comparedEstimand('qps')],
    interval: 'auto',
    normalize: null,
  });
  expect(turned.cases[0]?.figures[0]?.delta).toMatchObject({
    verdict: 'no difference shown',
    undecided: 'not limited by the servers',
  });
  expect(documentText(compareDocument(turned), relative)).toContain('not compared');
});

it('a post says at the beginning, and in a sentence, what its figures are not', async () => {
  const record = makeRecord({
    cases: [
      { server: 'coredns', trials: around(1000) },
      { server: 'dinodns', trials: around(3000).map((trial) => ({ ...trial, limitedBy: 'loader' })) },
    ],
  });
  const text = await renderPost(record);
  const [, keep = ''] = text.split('Keep in mind:');
  expect(keep).toMatch(
    /^\n\n- DinoDNS may answer more queries per second than shown \(†\): something else was the limit\.\n- .+\n\nRepeat it:/,
  );
  expect(text).not.toMatch(/^- .?$/m);
});

describe('the post of a published run', () => {
  const names = readdirSync(referenceFolder('.'), { withFileTypes: true })
    .filter((item) => item.isDirectory())
    .map(({ name }) => name);

  it.each(names)(
    'begins with its verdict, its picture, two caveats and the command, without a name that only programs use: %s',
    async (name) => {
      const store = createStore(realWorld(), referenceFolder('.'));
      const files = (await openRun(await store.find(referenceFolder(name)))).files(['blog'], relative);
      const { value } = await files.next();
      const [, , body = ''] = String(value?.content).split(/^---$/m);
      const [verdict = '', rest = ''] = body.split('<!-- truncate -->');
      // A sentence, and no list of keys and figures, nor a subject with a colon.
      expect(verdict.trim()).toMatch(/^[A-Z][^\n]+[a-z][^\n]+\.$/);
      expect(verdict.trim()).not.toMatch(/^CoreDNS [\d.]+, [a-z]+: /);
      expect(verdict).not.toMatch(/: [+-][\d.]+ %/);
      const [before = '', after = ''] = rest.split('Repeat it:');
      expect(before).toMatch(/^!\[.+\]\(\.\/[\w-]+\.svg\)$/m);
      expect(before.match(/^- .*$/gm)?.filter((line) => !line.endsWith('.')) ?? []).toEqual([]);
      expect(after.trim()).toMatch(/^```sh\n(?:git checkout \w+\n)?pnpm bench /);
      const prose = String(value?.content)
        .replaceAll(/```\w*\n.*?```/gs, '')
        .replaceAll(/^(?:\| image of|tags:) .*$/gm, '');
      expect(prose.match(RAW_NAMES) ?? []).toEqual([]);
    },
  );
});

describe('a run of many versions', () => {
  const versions = parseRecord(referenceText('local-coredns-1.9-to-1.15'), 'run.json');

  it('is told by the steps between neighbours, in two sentences, and has a slug of whole words', async () => {
    const text = await renderPost(versions);
    const [, , body = ''] = text.split(/^---$/m);
    const [excerpt = ''] = body.split('<!-- truncate -->');
    expect(excerpt.trim().replaceAll('\u00a0', ' ')).toBe(
      'From CoreDNS 1.11.3 to 1.12.4, CPU time per query changed: 23 % less (95 % interval 11–30 %) at tier 1, single, workload internal and 22 % less (95 % interval 12–28 %) at tier 1, single, workload external. No other step was shown from CoreDNS 1.9.4 to 1.15.0 (12 comparisons of neighbouring versions, corrected together).',
    );
    expect(text).toContain('slug: dns-benchmark-2026-11-24-coredns-1-9-4-to-1-15-0\n');
    expect(text).toContain('title: "What changed from CoreDNS 1.9.4 to 1.15.0?"');
    expect(slugFrom(['a'.repeat(60), 'b'.repeat(60)])).toBe('a'.repeat(60));
  });

  it('has no step that chance makes', () => {
    const servers = ['1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'].map((version) => `coredns@${version}`);
    const trials = [1, 1.01, 0.99, 1.005, 0.995, 1.002].map((factor) => ({
      ...{ qps: 2000, latencySeconds: 0.001, limitedBy: 'rate' as const },
      cpuSecondsPerQuery: 1e-5 * factor,
    }));
    const turned = [...trials.slice(2), ...trials.slice(0, 2)];
    const record = makeRecord({
      cases: servers.map((server, index) => ({
        ...{ server, ratePerSecond: 2000, trials: index % 2 === 0 ? trials : turned },
      })),
    });
    expect(versionSteps(record)?.map(({ isStep }) => isStep)).toEqual([false]);
  });

  const releases = (trials: readonly (readonly Measured[])[]) =>
    makeRecord({
      baseline: 'coredns@1.1.0',
      cases: trials.map((own, index) => ({ server: `coredns@1.${index + 1}.0`, trials: own })),
    });
  const withoutCpu = (trial: Measured) => ({ ...trial, cpuSecondsPerQuery: null });
  const fourfold = [1000, 1000, 4000, 4000].map((qps) => around(qps).map(withoutCpu));

  it('is told by its throughput where CPU was not measured and the servers were the limit', () => {
    const told = versionSteps(releases(fourfold))?.map(({ sentence }) => sentence);
    expect(told?.[0]).toMatch(
      /^From CoreDNS 1\.2\.0 to 1\.3\.0, queries per second changed: 4\.\d+ × as many/,
    );
    expect(told?.[1]).toMatch(/^No other step was shown .+ \(3 comparisons/);
    expect(told).toHaveLength(2);
    const ofTwo = versionSteps(releases(fourfold.map((own) => own.slice(0, 2))));
    expect(ofTwo?.[0]?.sentence).toMatch(/4\.0 × as many \(two pairs\)/);
  });

  it('is told like any other where no neighbours have a difference with an interval', () => {
    const bounded = fourfold.map((own) => own.map((trial) => ({ ...trial, limitedBy: 'loader' as const })));
    const single = releases([1000, 1000, 4000, 4000].map((qps) => [{ qps }]));
    for (const record of [releases(bounded), single]) expect(versionSteps(record)).toBeNull();
    expect(verdicts(single).join(' ')).toMatch(/CoreDNS 1\.4\.0 answered 300\.0 % more queries per second/);
  });

  it('counts only the comparisons that have an interval', () => {
    const [first = [], second = [], third = [], fourth = []] = [1000, 1001, 1002, 1003].map(around);
    const record = releases([first, second, third, fourth.slice(0, 1)].map((own) => own.map(withoutCpu)));
    expect(versionSteps(record)?.at(-1)?.sentence).toContain('(2 comparisons of neighbouring versions');
  });
});

describe('the post of a run of two trials', () => {
  it('shows both differences, and no interval', async () => {
    const text = await renderPost(parseRecord(referenceText('kubernetes-two-loaders'), 'run.json'));
    expect(text).toMatch(/[+-][\d.]+ % and [+-][\d.]+ %/);
    expect(text).not.toMatch(/^\|.*\[[+-][\d,.]+, [+-][\d,.]+\\?\]/m);
    expect(text).toContain('Δ of both pairs');
  });

  it('is about CPU where that decides, and no other report shows an interval', async () => {
    const limitedBy = 'rate' as const;
    const trials = (costs: readonly number[]) =>
      costs.map((cpuSecondsPerQuery) => ({ ...{ qps: 2000, limitedBy }, cpuSecondsPerQuery }));
    const record = makeRecord({
      cases: [
        { server: 'coredns', ratePerSecond: 2000, trials: trials([1e-5, 1e-5]) },
        { server: 'dinodns', ratePerSecond: 2000, trials: trials([5e-6, 1.2e-5]) },
      ],
    });
    const { findings } = runDocument(record, relative);
    expect(findings[0]?.badge).toMatchObject({ text: '≈ -50.0 % and +20.0 % CPU' });
    const both =
      'No difference in CPU per query shown between DinoDNS and CoreDNS (the two pairs: 50.0 % less and 20.0 % more CPU per query).';
    expect(findings[0]?.sentence).toBe(both);
    const terminal = renderTerminal(record, { ...relative, columns: 100 });
    expect(terminal).toContain('both pairs');
    for (const text of [terminal, renderGithub(record, relative)]) {
      expect(text.replaceAll(/\s+/g, ' ')).toContain(both);
      expect(text).not.toMatch(/95 % interval/);
    }
  });

  it('tells a difference that was shown without its interval, too', () => {
    const [baseline, values] = [
      [1000, 1000],
      [3000, 3000.1],
    ].map((all) => all.map((qps) => ({ qps })));
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: baseline ?? [] },
        { server: 'dinodns', trials: values ?? [] },
      ],
    });
    const pairs = '(the two pairs: 200.0 % more and 200.0 % more).';
    const sentence = `DinoDNS answered 3.0 × as many queries per second as CoreDNS ${pairs}`;
    expect(verdictSentence(record.cases[1] as (typeof record.cases)[number], record)).toBe(sentence);
    expect(overallSentence(record, 'dinodns', 'qps')).toBe(sentence);
  });
});

describe('the stored reference', () => {
  it.each(['markdown'])('is what the renderer makes of its record: %s', async (name) => {
    const renderer = findRenderer(name, formats);
    const stored = await readFile(
      join(referenceFolder('local-tier1-both'), renderer?.fileName ?? ''),
      'utf8',
    );
    expect(renderer?.render(reference, { delta: reference.deltaDefinition })).toBe(stored);
  });
});

describe('the caveats of a post', () => {
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  const told = (changes: Partial<RunRecord>) => caveats({ ...record, ...changes }).join('\n');

  it('name loopback and a closed loop only where they were used', () => {
    expect(told({})).toContain('shared one machine and its loopback interface');
    expect(told({})).toContain('The load was a closed loop: dnsperf');
    const trials = record.trials.map((trial) => ({
      ...trial,
      instances: [
        { ...{ address: '192.0.2.1', port: 53, pid: null }, workers: null, command: [], cpuAllowance: 1 },
      ],
    }));
    expect(told({ trials })).toContain('The load went to an address outside the loopback interface');
    expect(told({ trials })).not.toContain('shared one machine');
    const configuration = { ...record.configuration, objective: 'max-rate' };
    expect(told({ configuration })).toContain('in an open loop');
    expect(told({ configuration })).not.toContain('closed loop');
    const rated = { ...record.cases[0], ratePerSecond: 2000 } as (typeof record.cases)[number];
    expect(told({ cases: [...record.cases, rated] })).toContain('a closed loop where no rate is given');
    const captured = record.workloads.map((workload) => ({ ...workload, name: 'night.pcap' }));
    expect(told({ workloads: captured })).toContain('The load was a capture, replayed with its own timing');
    expect(told({ workloads: [...record.workloads, ...captured] })).toContain(
      'closed loop except for captures',
    );
  });
});

describe('the post for a blog', () => {
  it('has front matter, the verdicts before the marker, then their chart, two caveats and the command', async () => {
    const text = await renderPost(makeRichRecord());
    const matter = parse(text.slice(4, text.indexOf('\n---\n')));
    expect(matter).toMatchObject({
      slug: 'dns-benchmark-2026-11-21-coredns-dinodns-stock-dinodns-knot',
      title: 'How fast do CoreDNS, DinoDNS (stock), DinoDNS and Knot DNS answer?',
      authors: [{ name: 'dinodns-bench' }],
      tags: ['benchmark', 'dns', 'coredns', 'dinodns-stock', 'dinodns', 'knot'],
    });
    const [excerpt = ''] = text.slice(text.indexOf('\n---\n') + 5).split('<!-- truncate -->');
    expect(excerpt).toContain('than CoreDNS');
    expect(excerpt).not.toContain('## ');
    const [beginning = ''] = text.split('## Figures');
    expect(beginning).toMatch(
      /<!-- truncate -->\n\n!\[.*\n\nMedians of .*CoreDNS 1\.0.*\n\nKeep in mind:\n\n- .*\n- .*\n\nRepeat it:\n\n```sh\n/,
    );
    expect(text.match(/^## .*/gm)).toEqual([
      '## Figures',
      '## Charts',
      '## Method',
      '## Programs',
      '## Read with care',
    ]);
    // No sentence is there twice, and nothing is named as only programs name it.
    const sentences = text.match(/^- .{40,}$/gm) ?? [];
    expect(new Set(sentences).size).toBe(sentences.length);
    expect(text).not.toMatch(/cgroup-v1-quota|\/tier=/);
    expect(text.match(/^### .*/gm)).toEqual(['### 0.5 CPU', '### 1 CPU', '### 2 CPU']);
    expect(text).toContain('pnpm bench run --tier 1 --mode single');
    expect(text).toContain('the load generator was at its limit');
  });

  it('refers to the charts beside it, to all of them and to no other', async () => {
    const files = await filesFor('blog', makeRichRecord());
    const text = String(files.get('blog/index.md'));
    const referred = [...text.matchAll(/\]\(\.\/([\w-]+\.svg)\)/g)].map((match) => `blog/${match[1]}`);
    const charts = [...files.keys()].filter((path) => path !== 'blog/index.md');
    expect(referred.toSorted()).toEqual(charts.toSorted());
  });

  it.each([
    ['the reference', () => reference],
    ['a rich record', () => makeRichRecord()],
    ['a hostile record', () => makeHostileRecord()],
  ])('is MDX that compiles, without code in it: %s', async (_, make) => {
    const text = await renderPost(make());
    const code = String(await compile(mdxOf(text), { format: 'mdx' }));
    expect(code).not.toMatch(/^(?:import|export) (?!default function|\{|.*jsx-runtime)/m);
    // An attack may stand in a string, but not be an expression or an element.
    expect(code).not.toMatch(/^\s*globalThis\.attacked/m);
    expect(code).not.toContain('_jsx("script"');
    expect(code).not.toContain('_components.img, {\n        src: "x"');
  });

  it('has front matter that nothing in it can end', async () => {
    const text = await renderPost(makeHostileRecord('"\n---\n# pwned\n'));
    const matter = parse(text.slice(4, text.indexOf('\n---\n')));
    expect(Object.keys(matter)).toEqual(['slug', 'title', 'description', 'date', 'authors', 'tags']);
    expect(matter.slug).toMatch(/^[a-z0-9-]+$/);
  });
});

it('a run at a fixed rate is told by what queries cost', async () => {
  const trial = { qps: 2000, latencySeconds: 0.001, limitedBy: 'rate' } as const;
  const cost = (cpuSecondsPerQuery: number) =>
    [1, 1.01, 0.99, 1.005, 0.995, 1.002].map((factor) => ({
      ...trial,
      cpuSecondsPerQuery: cpuSecondsPerQuery * factor,
    }));
  const record = makeRecord({
    cases: [
      { server: 'coredns', ratePerSecond: 2000, trials: cost(2e-5) },
      { server: 'dinodns', ratePerSecond: 2000, trials: cost(1e-5) },
    ],
  });
  const text = await renderPost(record);
  const [excerpt = ''] = text.slice(text.indexOf('\n---\n') + 5).split('<!-- truncate -->');
  expect(excerpt).toContain('DinoDNS spent 50.0 % less CPU time per query than CoreDNS');
  expect(excerpt).not.toContain('more queries per second');
  expect(text).toContain('![CPU per query.');
  expect(text).toContain('The rate was fixed');
  expect(text).toMatch(/^\| +\| CPU per query \|/m);
});

describe('what a server was shown to be over all points', () => {
  it('is told as a span with its intervals where all verdicts agree', () => {
    const sentence = overallSentence(reference, 'dinodns', 'qps');
    expect(sentence).toBe(
      'DinoDNS answered more queries per second than CoreDNS at both points compared: from 32 % more (95 % interval ' +
        '25–53 %) at tier 1, single to 43 % more (95 % interval 19–56 %) at tier 1, multi.',
    );
  });

  it('names the points without a verdict where there are some', () => {
    expect(overallSentence(reference, 'dinodns-stock', 'qps')).toBe(
      'DinoDNS (stock) answered fewer queries per second than CoreDNS at 1 of 2 points, 13.0 % fewer (95 % interval ' +
        '5.9–15.5 %) at tier 1, multi; no difference was shown at tier 1, single.',
    );
    expect(overallSentence(reference, 'dinodns-stock', 'latencySeconds')).toBe(
      'No difference in average latency was shown between DinoDNS (stock) and CoreDNS at any of 2 points.',
    );
  });

  it('names no winner without an interval, nor where it holds zero', () => {
    const one = makeRecord({
      cases: [
        { server: 'coredns', trials: [{ qps: 100 }] },
        { server: 'dinodns', trials: [{ qps: 900 }] },
      ],
    });
    expect(overallSentence(one, 'dinodns', 'qps')).toBeNull();
    const equal = makeRecord({
      cases: [
        { server: 'coredns', trials: around(1000) },
        { server: 'dinodns', trials: around(1000).toReversed() },
      ],
    });
    expect(overallSentence(equal, 'dinodns', 'qps')).toContain(
      'No difference in queries per second was shown',
    );
  });

  it('is told with the reservation that it is no larger than the noise floor', () => {
    const cases = reference.cases.map((item) => ({
      ...item,
      comparison: item.comparison && {
        ...item.comparison,
        qps: { ...item.comparison.qps, belowNoiseFloor: item.server === 'dinodns' },
      },
    }));
    const noisy = { ...reference, cases };
    expect(reservations(noisy)).toEqual(['A difference is no larger than that between two equal servers.']);
    expect(reservations(reference)).toEqual([]);
    const [stock, dinodns] = cases.slice(1, 3).map((item) => verdictSentence(item, noisy));
    expect(dinodns).toContain('more); but the baseline differs from itself by as much (noise floor).');
    expect(stock).not.toContain('noise floor');
  });

  it('tells a multiple where there is one, and a cost in its own words', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: around(1000) },
        { server: 'dinodns', trials: around(3000) },
      ],
    });
    expect(overallSentence(record, 'dinodns', 'qps')).toMatch(
      /^DinoDNS answered 3\.0 × as many queries per second as CoreDNS \(95 % interval [\d.]+–[\d.]+\)\.$/,
    );
    expect(overallSentence(record, 'dinodns', 'cpuSecondsPerQuery')).toMatch(
      /^DinoDNS spent 66\.7 % less CPU time per query than CoreDNS \(95 % interval [\d.]+–[\d.]+ %\)\.$/,
    );
  });
});

describe('the comment on a pull request', () => {
  it('is short, says what was shown, and folds the rest away', () => {
    const text = renderGithub(reference, relative);
    expect(text.length).toBeLessThan(6000);
    expect(text).toContain('DinoDNS answered 32 % more queries per second than CoreDNS');
    expect(text).toMatch(/\| +⚪ \+3\.9 % \[-4\.9, \+14\.3\] \|/);
    expect(text).toContain('<details><summary>Machine, and how to reproduce the run</summary>');
    expect(text.match(/<details>/g)).toHaveLength(text.match(/<\/details>/g)?.length ?? 0);
  });

  it('fits into what GitHub takes, however many cases there are, and addresses nobody', () => {
    const tiers = Array.from({ length: 40 }, (_, index) => index + 1);
    const text = renderGithub(makeRichRecord({ tiers, trials: 2, seconds: 1 }), relative);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('more, in the report.');
    const hostile = renderGithub(makeHostileRecord('@everyone, fixes #1 and a/b#2'), relative);
    expect(hostile.replaceAll(/^```sh$.*?^```$/gms, '')).not.toMatch(/@\w|#\d/);
    // A command can be pasted.
    expect(renderGithub(reference, relative)).not.toMatch(/^(?:git|pnpm) .*\u2060/m);
  });
});

describe('texts that others interpret', () => {
  it('are no formulas in a spreadsheet, but negative numbers stay numbers', () => {
    const csv = renderCsv(makeHostileRecord('=1+1'));
    const cells = csv.split('\n').slice(1).join(',').split(',');
    expect(cells.some((cell) => cell.startsWith("'=1+1"))).toBe(true);
    expect(cells.filter((cell) => /^"?[=+@\t\r]/.test(cell))).toEqual([]);
    expect(cells.filter((cell) => cell.startsWith('-') && Number.isNaN(Number(cell)))).toEqual([]);
  });

  it('cannot steer a terminal: the only controls are the colours of the report', () => {
    const text = renderTerminal(makeHostileRecord(ATTACKS[7] ?? ''), { delta: 'relative', color: true });
    const [start, ...forbidden] = ['\u001b', '\u0007', '\u0000', '\u202e', '\u009b'];
    for (const character of forbidden) expect(text.includes(character)).toBe(false);
    const sequences = text.split(start ?? '').slice(1);
    expect(sequences.every((rest) => /^\[\d+m/.test(rest))).toBe(true);
    expect(text).toContain('\ufffd]0;title\ufffd\ufffd[31mred\ufffdreversed\ufffd');
  });
});

it('a post is a format by that name, too', () => {
  expect(findFormat('post', formats)?.name).toBe('blog');
});

it('every format has a file or is shown, and no two write the same', async () => {
  const paths: string[] = [];
  const wanted = ['md', 'blog', 'github', 'html', 'csv', 'json', 'svg', 'png'].flatMap(
    (name) => findFormat(name, formats) ?? [],
  );
  expect(wanted).toHaveLength(8);
  for await (const { path, content } of filesOf(
    wanted,
    makeRichRecord({ trials: 2, seconds: 2 }),
    relative,
  )) {
    expect(content.length, path).toBeGreaterThan(100);
    paths.push(path);
  }
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toContain('charts/qps-dark.png');
});

describe('a post of a published run', () => {
  it('says its first verdict once, and names each configuration', async () => {
    const world = await testWorld();
    try {
      const argv = [
        'report',
        referenceFolder('capacity-throughput'),
        '--format',
        'blog',
        '--to',
        world.directory,
      ];
      expect(await world.bench(...argv)).toBe(0);
      const text = await readFile(join(world.directory, 'blog', 'index.md'), 'utf8');
      const [, body = ''] = text.split('\n---\n');
      expect(body.match(/For internal names, .* answered 28,401 lookups a second/g)).toHaveLength(1);
      expect(body).toContain('of CoreDNS in a cluster 1.15.0, CoreDNS in a cluster (autopath) 1.15.0 and');
    } finally {
      await world.remove();
    }
  });

  it.each([
    [
      'capacity-memory',
      'How much memory do CoreDNS 1.11.3 and 1.15.0 need?',
      'With 158,200 objects, CoreDNS 1.11.3 needed 245 MiB under load and 334 MiB during a relist, with autopath 782 MiB and 2.95 GiB. CoreDNS 1.15.0 needed 245 MiB and 338 MiB, with autopath 823 MiB and 2.22 GiB. The published formula says 202 MiB, with autopath 657 MiB.',
    ],
    [
      'kubernetes-capacity-memory',
      'How much memory does CoreDNS 1.15.0 need?',
      'With 2,000 objects, CoreDNS needed 37.6 MiB under load and 46.5 MiB during a relist. The published formula says 53.4 MiB.',
    ],
    [
      'capacity-survive',
      'The smallest memory limit that CoreDNS survives',
      'With 3,160 objects, the smallest memory limit that CoreDNS survived was 40.0 MiB for CoreDNS 1.13.1 and 43.0 MiB for CoreDNS 1.15.0; with 31,600 objects, 81.0 MiB for CoreDNS 1.13.1 and 77.0 MiB for CoreDNS 1.15.0.',
    ],
    [
      'capacity-survive-sizes',
      'The smallest memory limit that CoreDNS survives',
      'With 5,000 objects, the smallest memory limit that CoreDNS 1.15.0 survived was 53.0 MiB; with 20,000 objects, 82.0 MiB; with 158,200 objects, 395 MiB.',
    ],
  ])('%s begins with what each version needs', async (run, title, verdict) => {
    const store = createStore(realWorld(), referenceFolder('.'));
    const files = (await openRun(await store.find(referenceFolder(run)))).files(['blog'], relative);
    const text = String((await files.next()).value?.content);
    expect(text).toContain(`\ntitle: "${title}"\n`);
    expect(text.replaceAll('\u00a0', ' ')).toContain(`\n---\n\n${verdict}\n\n<!-- truncate -->`);
  });

  it.each(['local-default', 'kubernetes-swap-shadow', 'capacity-memory'])(
    '%s: the verdict, its chart, two caveats and the command',
    async (run) => {
      const world = await testWorld();
      try {
        const to = ['--to', world.directory];
        expect(await world.bench('report', referenceFolder(run), '--format', 'blog', ...to)).toBe(0);
        const text = await readFile(join(world.directory, 'blog', 'index.md'), 'utf8');
        expect(text).toMatch(
          /\n---\n\n[A-Z].*CoreDNS.*\n\n<!-- truncate -->\n\n(?:- .*\n)*\n?!\[.*\n\n.*trials of each.*\n\nKeep in mind:\n\n- .*\n- .*\n\nRepeat it:\n\n```sh\n/,
        );
        // Only published formulas are in MB.
        expect(text.split('\n## ')[0]).not.toContain(' MB');
      } finally {
        await world.remove();
      }
    },
  );
});
