import { describe, expect, it } from 'vitest';
import { code, codeBlock, plain } from '../src/report/markdown-text.ts';
import type { RunRecord } from '../src/results/record.ts';
import { type Measured, makeRecord } from './fixtures/make-record.ts';
import { renderers, renderMarkdown, renderTerminal } from './support/render.ts';

const qps = (...values: number[]): Measured[] => values.map((value) => ({ qps: value }));
const report = (record: RunRecord) => renderMarkdown(record, { delta: 'relative' });

/** Every table row has as many cells as its header: pipes in the content are escaped. */
function expectWholeTables(markdown: string): void {
  let columns = 0;
  for (const line of markdown.split('\n')) {
    const pipes = line.startsWith('|') ? (line.match(/(?<!\\)\|/g) ?? []).length : 0;
    if (columns > 0 && pipes > 0) expect(pipes, line).toBe(columns);
    columns = pipes;
  }
}

const usual = makeRecord({
  cases: [
    { server: 'coredns', trials: qps(41_536, 42_000, 41_000) },
    { server: 'dinodns-stock', trials: qps(30_000, 30_900, 29_000) },
    { server: 'dinodns', trials: qps(80_000, 81_000, 79_500) },
  ],
});

describe('the Markdown report', () => {
  it('begins with what was compared, how the run ended and what was shown', () => {
    const [title, , headline, , ...rest] = report(usual).split('\n');
    expect(title).toBe('# CoreDNS, DinoDNS (stock) and DinoDNS');
    expect(headline).toMatch(/^Complete: 9 of 9 trials measured\. · /);
    expect(rest[0]).toMatch(
      /^- DinoDNS \(stock\) answered 27\.8 % fewer|^- DinoDNS \(stock\) answered 28 % fewer/,
    );
    expect(rest[1]).toContain('- DinoDNS answered 1.9 × as many queries per second as CoreDNS');
  });

  it('has every section, whole tables and a line break at its end', () => {
    const text = report(usual);
    for (const heading of [
      '## Tier 1, single',
      '### Uncertainty',
      '### Cost',
      '### Each trial',
      '## How to read this',
      '## Method',
      '## Environment',
      '## Programs',
      '## Reproduce',
    ]) {
      expect(text.split('\n')).toContain(heading);
    }
    expectWholeTables(text);
    expect(text.endsWith('```\n')).toBe(true);
    expect(text).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('shows sums of counts, medians with intervals, verdicts and each trial', () => {
    const text = report(usual);
    // (41,536 + 42,000 + 41,000) · 600 s
    expect(text).toMatch(/\| CoreDNS +\| +74,721,600 \|/);
    expect(text).toMatch(/41,536 \[\d\d,\d{3}, \d\d,\d{3}\]/);
    expect(text).toMatch(/\| \*\*faster\*\* +\|/);
    expect(text).toContain('- CoreDNS: 41,536 · 42,000 · 41,000');
  });

  it('says what is known to be wrong in the stock server, only if it was measured', () => {
    expect(report(usual)).toContain('names are compared case-sensitively');
    expect(report(makeRecord({ cases: [{ server: 'coredns', trials: qps(1, 2) }] }))).not.toContain(
      'case-sensitively',
    );
  });

  it('names the definition of deltas that it uses', () => {
    const used = (text: string) =>
      text.includes('baseline. This report uses this one.') ? 'relative' : 'symmetric';
    expect(used(renderMarkdown(usual, { delta: 'relative' }))).toBe('relative');
    expect(used(renderMarkdown(usual, { delta: 'symmetric' }))).toBe('symmetric');
    expect(renderMarkdown(usual).match(/This report uses this one/g)).toHaveLength(1);
    expect(renderMarkdown(usual, { delta: 'symmetric' })).toContain('symmetric. This report uses this one.');
    // Medians 80,000 and 41,536.
    expect(renderMarkdown(usual, { delta: 'relative' })).toContain('80,000 (+92.60%)');
    expect(renderMarkdown(usual, { delta: 'symmetric' })).toContain('80,000 (+63.30%)');
  });

  it('marks throughput that the server did not limit, and explains the mark', () => {
    const text = report(
      makeRecord({
        cases: [
          { server: 'coredns', trials: qps(100, 101, 102) },
          {
            server: 'dinodns',
            contended: true,
            trials: [
              { qps: 200, limitedBy: 'loader' },
              { qps: 201, limitedBy: 'loader' },
            ],
          },
        ],
      }),
    );
    expect(text).toMatch(/\| 20[01]†‡ \|/);
    expect(text).toMatch(/\| \*\*at least this much\*\* \|/);
    expect(text).toMatch(/^† Not limited by the server.*DinoDNS: the load generator was at its limit/m);
    expect(text).toMatch(/^‡ Contended/m);
    expect(text).not.toMatch(/\| 101†/);
  });

  it('says that one trial has no interval and shows nothing', () => {
    const text = report(
      makeRecord({
        cases: [
          { server: 'coredns', trials: qps(100) },
          { server: 'dinodns', trials: qps(200) },
        ],
      }),
    );
    expect(text).toContain('One trial each: no interval, no verdict.');
    expect(text).toContain('one trial, no interval');
    expect(text).toContain('so nothing is shown yet');
    expect(text).not.toMatch(/faster/);
  });

  it('shows both values of two trials, whose interval would say nothing', () => {
    const record = makeRecord({ cases: [{ server: 'coredns', trials: qps(1000, 1200) }] });
    expect(report(record)).toMatch(/\| 1,000 and 1,200 \|/);
    expect(report(record)).not.toMatch(/\| 1,\d{3} \[/);
    expect(renderTerminal(record)).toContain('two trials');
  });

  it('lists failed trials with their reasons and keeps a row for a server without a result', () => {
    const text = report(
      makeRecord({
        cases: [
          { server: 'coredns', trials: qps(100, 101) },
          {
            server: 'dinodns',
            trials: [
              { failed: 'E_SERVER_DIED', message: 'exit 1 | `out`\nof <memory>' },
              { failed: 'E_ALL_LOST' },
            ],
          },
        ],
      }),
    );
    expect(text).toContain('Finished, but 2 of 4 trials failed.');
    expect(text).toMatch(/\| DinoDNS +\| +– \| +– \|/);
    expect(text).toContain('exit 1 \\| \\`out\\` of &lt;memory&gt;');
    expect(text).toContain('- DinoDNS: failed (E\\_SERVER\\_DIED) · failed (E\\_ALL\\_LOST)');
    expect(text).toContain('DinoDNS has no result');
    expectWholeTables(text);
  });

  it('copes with no successful trial at all', () => {
    const text = report(
      makeRecord({ cases: [{ server: 'coredns', trials: [{ failed: 'E_WRONG_ANSWER' }] }] }),
    );
    expect(text).toContain('No result: the only trial failed.');
    expect(text).not.toMatch(/NaN|undefined/);
    expectWholeTables(text);
  });

  it('copes with a run that was interrupted before its first trial, without servers, and says how to go on', () => {
    const record = makeRecord({
      cases: [{ server: 'coredns', plannedTrials: 3, trials: [] }],
      record: { status: 'interrupted', endedAt: null, servers: [], provisioned: [] },
    });
    const text = report(record);
    expect(text).toContain('Interrupted: 0 of 3 trials measured.');
    expect(text).toContain('--resume 20261121-015012-3f9a');
    expect(text).not.toMatch(/NaN|undefined/);
    expect(report({ ...record, cases: [] })).toContain('# Run 20261121-015012-3f9a');
  });

  it('copes with a baseline that is not among the servers', () => {
    const text = report(
      makeRecord({ cases: [{ server: 'dinodns', trials: qps(100, 101) }], baseline: 'coredns' }),
    );
    expect(text).toContain('it cannot be compared, because no round also has a successful trial of coredns');
  });

  it('copes with nothing observed', () => {
    const blind: Measured[] = [1, 2].map((round) => ({
      qps: 100 + round,
      latencySeconds: null,
      cpuSecondsPerQuery: null,
      memoryBytes: null,
    }));
    const text = report(
      makeRecord({
        cases: [
          { server: 'coredns', trials: blind },
          { server: 'dinodns', trials: blind },
        ],
      }),
    );
    expect(text).not.toMatch(/NaN|undefined/);
    expectWholeTables(text);
  });

  it('says so where deltas are of fewer rounds than medians', () => {
    const text = report(
      makeRecord({
        cases: [
          { server: 'coredns', trials: qps(100, 101, 102) },
          { server: 'dinodns', trials: [...qps(200, 201), { failed: 'E_ALL_LOST' }] },
        ],
      }),
    );
    expect(text).toContain('deltas use only the rounds in which both servers succeeded');
  });

  it('counts queries in flight at the end apart from lost ones', () => {
    const record = makeRecord({
      cases: [
        {
          server: 'coredns',
          trials: [{ qps: 100, queriesSent: 1000, queriesCompleted: 940, queriesInterrupted: 50 }],
        },
      ],
    });
    expect(report(record)).toMatch(
      /\| +1,000 \| +940 \| +10 \| +100 \| +0\.002000 \| +94\.00% \| +6\.00% \|/,
    );
    expect(report(record)).toContain('50 queries were still in flight');
  });

  it('shows warnings, and cannot be broken by what they contain', () => {
    const text = report({ ...usual, warnings: ['no <right> to set *limits* | `x`'] });
    expect(text).toContain('- no &lt;right&gt; to set \\*limits\\* \\| \\`x\\`');
    const fenced = report({ ...usual, command: 'bench run --out "```"' });
    expect(fenced).toContain('````sh');
  });

  it('renders 2,000 trials in every format, without listing them all, in time that grows with their number only', () => {
    const recordOf = (trials: number) =>
      makeRecord({
        cases: ['coredns', 'dinodns'].map((server, index) => ({
          server,
          trials: Array.from({ length: trials / 2 }, (_, round) => ({
            qps: 10_000 * (index + 1) + (round % 97),
          })),
        })),
      });
    const [some, many] = [recordOf(500), recordOf(2000)];
    for (const renderer of renderers) {
      const cpuSeconds = (record: typeof some) => {
        const before = process.threadCpuUsage();
        const text = renderer.render(record, { delta: 'relative' });
        if (renderer.name === 'markdown') expect(text.length).toBeLessThan(20_000);
        const { user, system } = process.threadCpuUsage(before);
        return (user + system) / 1e6;
      };
      // Four times as many: linear is 4, and a square would be 16. Below a few milliseconds it says nothing.
      cpuSeconds(some);
      expect(cpuSeconds(many), renderer.name).toBeLessThan(10 * Math.max(cpuSeconds(some), 0.02));
    }
  });
});

describe('text in Markdown', () => {
  it('is never markup', () => {
    expect(plain('a|b *c* _d_ [e](f) <g> & `h`\n\\')).toBe(
      'a\\|b \\*c\\* \\_d\\_ [e\\](f) &lt;g&gt; &amp; \\`h\\` \\\\',
    );
  });

  it('in code outdoes the backticks in it', () => {
    expect(code('a`b|c')).toBe('``a`b\\|c``');
    expect(code('`a`')).toBe('`` `a` ``');
    expect(code('')).toBe('');
    expect(codeBlock('a\n```\nb', 'sh')).toBe('````sh\na\n```\nb\n````');
  });
});
