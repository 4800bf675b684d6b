/** From placements of a swap to verdicts, tables and sentences. */
import { describe, expect, it } from 'vitest';
import { buildDifferences, programOf, versionPrinted } from '../src/experiments/swap/builds.ts';
import type { SwapEvidence, SwapRecord } from '../src/experiments/swap/evidence.ts';
import { canarySentence } from '../src/experiments/swap/in-place/canary-count.ts';
import { swap } from '../src/experiments/swap/index.ts';
import { publishedRecord } from '../src/history/published.ts';
import { formatJson } from '../src/results/json-text.ts';
import { visibilityProblem } from '../src/stats/load-visibility.ts';
import { detectableDifference } from '../src/stats/sample-test.ts';
import { eightPlacements, makeSwap, type PlacementChoice, withTrials } from './fixtures/make-swap.ts';

function resultOf(record: SwapRecord, figure = 'net-internal') {
  const item = record.cases.find(({ subject }) => subject !== record.baseline);
  const delta = item?.comparison?.deltas[figure];
  if (delta != null && !('difference' in delta)) throw new Error('no difference');
  return { delta: delta ?? null, summary: item?.summary[figure] ?? null };
}

function rendered(name: string, record: SwapRecord, columns = 80): string {
  if (swap.records === null || !('open' in swap.records)) throw new Error('no records');
  const opened = swap.records.open({ text: formatJson(record), path: 'run.json' });
  return opened.render(name, { delta: 'relative', columns }) ?? '';
}

const onOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

it('what each node sent has its table in the reports, where every node sent', () => {
  const record = makeSwap(eightPlacements(20, 20));
  expect(rendered('markdown', record)).not.toMatch(/Names +\| Node/);
  const sent = { queriesSent: 1000, queriesCompleted: 999, queriesLost: 1 };
  const senders = ['node-a', 'node-b'].map((node) => ({ node, ...sent }));
  const all = withEvidence(record, (evidence) => ({
    ...evidence,
    phases: evidence.phases.map((phase) => (phase.kind === 'idle' ? phase : { ...phase, senders })),
  }));
  expect(onOneLine(rendered('markdown', all))).toMatch(
    /\| 1 A \| \S+ \| internal \| node-b \| 1,000 \| 999 \| 1 \|/,
  );
});

/** The record with the evidence of its placements changed. */
function withEvidence(
  record: SwapRecord,
  change: (evidence: SwapEvidence, index: number) => SwapEvidence,
): SwapRecord {
  return withTrials(
    record,
    record.trials.map((trial, index) =>
      trial.status === 'ok' ? { ...trial, evidence: change(trial.evidence, index) } : trial,
    ),
  );
}

describe('the verdict of a swap', () => {
  it.each([
    ['more', 100, 120, 2],
    ['less', 100, 80, 2],
    ['no difference shown', 100, 101, 8],
  ])('is "%s" where net CPU goes from %i m to %i m', (verdict, a, b, scatter) => {
    const { delta } = resultOf(makeSwap(eightPlacements(a, b, scatter)));
    // Both name sets are corrected together.
    expect(delta).toMatchObject({ verdict, n: 4, comparisons: 2 });
    const expected = (b - a) / 1000;
    expect((delta?.low ?? 0) <= expected && expected <= (delta?.high ?? 0)).toBe(true);
  });

  it('rests on placements: a minute of equal readings more does not make it surer', () => {
    const record = makeSwap(eightPlacements(100, 104, 8));
    const longer = withEvidence(record, (evidence) => ({
      ...evidence,
      phases: evidence.phases.map((phase) => ({
        ...phase,
        observation:
          phase.observation === null
            ? null
            : { ...phase.observation, samples: phase.observation.samples.flatMap((one) => [one, one, one]) },
      })),
    }));
    expect(resultOf(longer)).toEqual(resultOf(record));
  });

  it('says how small a difference so many placements could show, and that one pair shows none', () => {
    const { delta } = resultOf(makeSwap(eightPlacements(100, 101, 8)));
    expect(delta?.detectable).toBeGreaterThan(Math.abs(delta?.difference ?? 0));
    const one = makeSwap(eightPlacements(100, 150).slice(0, 2));
    expect(resultOf(one).delta).toMatchObject({
      ...{ verdict: 'no difference shown', low: null, detectable: null, n: 1 },
    });
    expect(onOneLine(rendered('terminal', one))).toContain('1 pair of placements. One pair cannot show');
  });

  it.each([
    [{ held: 0.9 }, '- Placement 3: 90.0 % of the rate was held.\n'],
    [{ failure: 'they were restarted' }, 'trial 2 failed: they were restarted'],
  ] satisfies [Partial<PlacementChoice>, string][])(
    'does not take pairs apart: with %j, a placement takes its partner with it',
    (change, warning) => {
      const choices = eightPlacements(100, 120);
      const record = makeSwap(
        choices.map((choice, index) => (index === 2 ? { ...choice, ...change } : choice)),
      );
      const { delta, summary } = resultOf(record);
      expect(delta?.n).toBe(3);
      expect(summary?.n).toBe(3);
      expect(rendered('markdown', record, 200)).toContain(warning);
    },
  );

  it('is none if all placements failed', () => {
    const record = makeSwap(eightPlacements(100, 120).map((one) => ({ ...one, failure: 'mixed' })));
    expect(resultOf(record).delta).toBeNull();
    expect(rendered('terminal', record)).not.toMatch(/more|less|no difference/);
    expect(rendered('terminal', record)).toContain('8 of 8 trials failed; 1.13.1 against 1.11.3');
  });

  it('is none where CPU under load is that of idle, whatever the difference; what clients saw still counts', () => {
    const record = makeSwap(eightPlacements(2, 9, 0.5, 280));
    for (const figure of ['net-internal', 'loaded-internal', 'query-internal'])
      expect(resultOf(record, figure)).toEqual({ delta: null, summary: null });
    const [, b] = record.cases;
    expect(b?.comparison?.deltas['p99-internal']).not.toBeNull();
    const shown = rendered('markdown', record, 400);
    expect(shown).toMatch(
      /\(load not visible\): Nothing can be said about names of the cluster\. 1\.11\.3, 4 placements: the load is not visible in the CPU figures: they rise by \dm above idle, and the load should cost 80m or more/,
    );
  });

  it('is by the time between the readings of CPU, of which the rest is idle', () => {
    const record = makeSwap(eightPlacements(100, 120, 0));
    // Idle: 6 millicores for 75 s; under load for 60 s, and idle for 15 s.
    const longer = withEvidence(record, (evidence) => ({
      ...evidence,
      phases: evidence.phases.map((phase) => {
        if (phase.observation === null) return phase;
        const cpuSeconds = phase.observation.cpuSeconds + 15 * 0.006;
        const observation = { ...phase.observation, cpuSeconds, cpuCores: cpuSeconds / 60 };
        return { ...phase, readSeconds: 75, observation };
      }),
    }));
    expect(resultOf(longer).delta?.difference).toBeCloseTo(0.02, 9);
    for (const [figure, cores] of [
      ['idle', 0.006],
      ['loaded-internal', 0.126],
      ['net-internal', 0.12],
    ] as const)
      expect(resultOf(longer, figure).summary?.median, figure).toBeCloseTo(cores, 9);
  });

  it('takes the CPU of each pod by the time between its own readings, idle and under load', () => {
    const pod = { node: 'n', queries: null, cpuCores: 0, memoryBytes: null, throttledSeconds: null };
    const instances = [
      { ...pod, name: 'pod-a', cpuSeconds: 0.002 * 15, readSeconds: 15 },
      { ...pod, name: 'pod-b', cpuSeconds: 0.01 * 30, readSeconds: 30 },
    ];
    const record = withEvidence(makeSwap(eightPlacements(100, 120, 0)), (evidence) => ({
      ...evidence,
      phases: evidence.phases.map((phase) => {
        if (phase.observation === null) return phase;
        if (phase.kind === 'idle') {
          const observation = { ...phase.observation, cpuSeconds: 0.33 };
          return { ...phase, instances, readSeconds: 22.5, observation };
        }
        // A load of 60 s; pod a is idle for 15 s more, and pod b for 30.
        const cpuSeconds = phase.observation.cpuSeconds + 0.33;
        const longer = instances.map((one) => ({ ...one, readSeconds: 60 + one.readSeconds }));
        return {
          ...{ ...phase, instances: longer, readSeconds: 82.5 },
          observation: { ...phase.observation, cpuSeconds, cpuCores: cpuSeconds / 60 },
        };
      }),
    }));
    expect(resultOf(record, 'idle').summary?.median).toBeCloseTo(0.012, 9);
    expect(resultOf(record, 'loaded-internal').summary?.median).toBeCloseTo(0.126, 9);
    const shown = onOneLine(rendered('markdown', record, 200));
    expect(shown).toMatch(/pod-a \| n \| 2\.0m \|/);
    expect(shown).toMatch(/pod-b \| n \| 10m \|/);
  });

  it('is none without idle windows, since then there is no net CPU', () => {
    const record = withEvidence(makeSwap(eightPlacements(100, 120)), (evidence) => ({
      ...evidence,
      phases: evidence.phases.filter(({ kind }) => kind !== 'idle'),
    }));
    expect(resultOf(record).delta).toBeNull();
  });
});

// Student's quantiles for five degrees of freedom, at 5 % and at the level of a look of `--until`.
it.each([
  [0.05, 2.5706],
  [0.005, 4.7733],
])(
  'the smallest difference that can be shown at %d is shown in about four of five swaps',
  (level, quantile) => {
    // A generator of its own: the test gives the same answer every time.
    let state = 42;
    const uniform = () => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return (state + 0.5) / 2147483648;
    };
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    // For six pairs with a scatter of 1, from the formula's own variance of 1.
    const scatter = [1, -1, 1, -1, 1, -1].map((x) => x * Math.sqrt(5 / 6));
    const wanted = detectableDifference(scatter, { level }) ?? 0;
    let shown = 0;
    for (let run = 0; run < 2000; run++) {
      const values = Array.from({ length: 6 }, () => wanted + normal());
      const mean = values.reduce((sum, x) => sum + x, 0) / 6;
      const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 5);
      if (mean - (quantile * deviation) / Math.sqrt(6) > 0) shown += 1;
    }
    expect(shown / 2000).toBeGreaterThan(0.74);
    expect(shown / 2000).toBeLessThan(0.88);
  },
);

describe('the warning that the load is not visible', () => {
  const { record } = publishedRecord('swap');

  it.each(record.cases.map((item) => [item.title ?? item.key, item] as const))(
    'fires on the published samples of %s',
    (_, item) => {
      const readings = item.samples?.cpuCores ?? [];
      const problem = visibilityProblem({
        idleCores: null,
        loadedCores: null,
        readings,
        seconds: 60,
        ratePerSecond: item.ratePerSecond ?? 0,
      });
      expect(problem).toMatch(/when the load starts, .* should cost 80m or more; \d distinct readings/);
    },
  );

  it('fires on them as placements of a swap, too, and its report says that nothing can be said', () => {
    const samplesOf = (side: string, names: string) =>
      record.cases.find(({ key }) => key.startsWith(`coredns@${side === 'A' ? '1.11.3' : '1.13.1'}/${names}`))
        ?.samples?.cpuCores ?? [];
    const made = makeSwap(eightPlacements(276, 290).slice(0, 2));
    // Idle was not measured.
    const published = withEvidence(made, (evidence) => ({
      ...evidence,
      phases: evidence.phases.flatMap((phase) => {
        if (phase.kind === 'idle' || phase.observation === null) return [];
        const samples = samplesOf(evidence.side, phase.kind).map((cpuCores, index) => ({
          ...{ atSeconds: 5.5 * index, cpuCores, memoryBytes: null },
        }));
        return [{ ...phase, observation: { ...phase.observation, samples } }];
      }),
    }));
    expect(rendered('markdown', published)).toContain(
      '(load not visible): Nothing can be said about names of the cluster. 1.11.3, 1 placement: the load is not visible in the CPU figures',
    );
    expect(rendered('markdown', made)).not.toContain('load not visible');
  });

  it('says that nothing can be seen where there are three readings and no idle', () => {
    const base = { idleCores: null, loadedCores: 0.05, seconds: 2, ratePerSecond: 2000 };
    const problem = visibilityProblem({ ...base, readings: [0.05, 0.05, 0.05] });
    expect(problem).toMatch(/idle was not measured/);
  });

  it('does not fire on a run where the load shows, with idle or without', () => {
    const loaded = [0.006, 0.007, 0.006, 0.09, 0.1, 0.098, 0.102, 0.099, 0.1, 0.101];
    const base = { loadedCores: null, readings: loaded, seconds: 60, ratePerSecond: 2000 };
    expect(visibilityProblem({ ...base, idleCores: null })).toBe('');
    expect(visibilityProblem({ ...base, idleCores: 0.006 })).toBe('');
  });
});

describe('the report of a swap', () => {
  const record = makeSwap(eightPlacements(100, 120));

  it('has the published table, figures with intervals, and what clients saw', () => {
    const shown = rendered('markdown', record, 200);
    for (const row of [
      '| Version | Workload Type | Average CPU (mCores) |',
      '## What the load costs: names of the cluster',
      '## What clients saw: names outside the cluster',
    ])
      expect(shown).toContain(row);
    expect(shown).toMatch(/\| 1\.13\.1 +\| Internal +\| +125m \| \+19m \(\+18\.\d %\) \|/);
    expect(shown).toMatch(/\| CoreDNS 1\.13\.1 \| +6\.0m ±0 % \| +125m ±\d %/);
    expect(shown.replaceAll('\u00a0', ' ')).toMatch(
      /\| Net CPU, internal +\| \+20m \\?\[\+1\dm, \+2\dm\\?\]: higher/,
    );
    expect(shown).toContain('**1.13.1, internal** (more: +20m)');
  });

  it('warns where Go, or how it was built, differs between both sides, and only there', () => {
    const printed = (line: string) =>
      [versionPrinted(`CoreDNS-1.11.3\nlinux/amd64, ${line}\n`)].flatMap((one) => one ?? []);
    const a = programOf('a', 'image', printed('go1.23.9 (Red Hat 1.23.9-1.el9_6) X:strictfipsruntime, '));
    const other = programOf('b', 'image', printed('go1.24.6 (Red Hat 1.23.9-1.el9_6), '));
    expect(buildDifferences([a, other])).toEqual([
      'CoreDNS is not all that changed: Go differs, 1.23.9 in 1.11.3 and 1.24.6 in 1.11.3.',
      'CoreDNS is not all that changed: FIPS mode differs, strictfipsruntime in 1.11.3 and none in 1.11.3.',
    ]);
    const same = programOf(
      'b',
      'image',
      printed('go1.23.9 (Red Hat 1.23.9-1.el9_6) X:strictfipsruntime, abc'),
    );
    expect(buildDifferences([a, same])).toEqual([]);
    expect(buildDifferences([a, programOf('b', 'image', [{ version: '1.13.1', build: {} }])])).toEqual([]);
  });

  it('has each reading in a table and as CSV, and what each pod used', () => {
    const pod = (name: string, node: string, cpuCores: number | null) => ({
      ...{ name, node, cpuCores, queries: null, cpuSeconds: null, memoryBytes: null, throttledSeconds: null },
    });
    const made = withEvidence(makeSwap(eightPlacements(100, 120).slice(0, 1)), (evidence) => ({
      ...evidence,
      phases: evidence.phases.map((phase) => ({
        ...phase,
        instances: [
          pod('dns-1', 'node-1', phase.kind === 'idle' ? 0.003 : 0.111),
          pod('dns-2', 'node-2', null),
        ],
      })),
    }));
    const shown = rendered('markdown', made, 200);
    expect(shown).toMatch(/\| 1 A +\| 1\.11\.3 +\| dns-1 +\| node-1 +\| +3\.0m \| +111m \| +111m \|/);
    expect(shown).toMatch(/\| dns-2 +\| node-2 +\| +– \| +– \| +– \|/);
    expect(shown).toMatch(/\| 1 A +\| 1\.11\.3 +\| idle +\| 5\.4 6\.0 6\.6 6\.1 5\.9 6\.0 +\|/);
    const [head, ...rows] = rendered('readings', made).trim().split('\n');
    expect(head).toBe('placement,side,version,phase,phase_started_at,at_seconds,cpu_cores');
    expect(rows).toHaveLength(4 * 6);
    expect(rows[1]).toBe('1,A,1.11.3,idle,2026-11-22T08:00:05.000Z,15,0.006');
  });

  it('says of loads from several nodes for how much of the time they were one, or that this is not known', () => {
    const loadedFrom = (overlaps: readonly (number | null)[]) => {
      const made = withEvidence(makeSwap(eightPlacements(100, 120).slice(0, 1)), (evidence) => ({
        ...evidence,
        phases: evidence.phases.map((phase) => {
          const { load } = phase;
          const overlap = overlaps[phase.kind === 'internal' ? 0 : 1] ?? null;
          if (load === null) return phase;
          const each = ['node-1', 'node-2'].map((node, index) => ({
            ...{ node, startSeconds: index / 1000, endSeconds: 60, cpuSeconds: null, cpuCores: null },
            ...{ wasTheLimit: null, clock: { offsetSeconds: 0.01, roundTripSeconds: 0.004 } },
          }));
          return {
            ...phase,
            senders: each.map(({ node }) => ({
              node,
              queriesSent: 60,
              queriesCompleted: 60,
              queriesLost: 0,
            })),
            loaders: { overlap, each },
          };
        }),
      }));
      return rendered('markdown', made, 400);
    };
    const shown = loadedFrom([0.999, 0.95]);
    expect(shown).toContain('In each load they sent together for 95.0 % of the time or more.');
    expect(shown).toContain(
      'began within 1.0 ms of each other, by one clock that each of them reached in 2.0 ms or less at best. The clocks',
    );
    expect(loadedFrom([0.999, null])).toContain('they may not have been simultaneous');
  });

  it('says which loads of a placement do not count, and which rate to try when some did not hold it', () => {
    const choices = eightPlacements(100, 120).map((choice, index) => ({
      ...choice,
      held: index === 3 ? 0.7 : 1,
    }));
    const made = makeSwap(choices);
    const shown = rendered('markdown', made);
    expect(shown).toContain(
      'no: internal: 70.0 % of the rate was held; external: 70.0 % of the rate was held',
    );
    expect(shown).toContain('- Placement 4: 70.0 % of the rate was held.\n');
    expect(shown).toContain(
      '- 2 of 16 loads did not hold the rate, although it was held for 3 s before the first placement: the slowest reached 1,400 queries a second. Keep other work off the nodes, or repeat the run with --rate 1100.\n',
    );
    const partial = rendered(
      'markdown',
      withEvidence(made, (evidence) => ({
        ...evidence,
        phases: evidence.phases.map((phase) =>
          phase.kind === 'external' && phase.load !== null
            ? // Whose last answer came late: all were answered even so.
              { ...phase, load: { ...phase.load, queriesCompleted: 120_000, qps: 1900 } }
            : phase,
        ),
      })),
    );
    expect(partial).toContain('in part: internal: 70.0 % of the rate was held |');
    expect(partial).toContain('- Internal, placement 4: 70.0 % of the rate was held.\n');
    expect(rendered('markdown', record)).not.toContain('did not hold the rate');
  });

  it.each([60, 80, 132])('fits into %i columns', (columns) => {
    const lines = rendered('terminal', record, columns).split('\n');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns);
    expect(lines.join(' ')).toContain('What the load costs');
  });

  it('says the whole sequence of its placements', () => {
    expect(rendered('markdown', record)).toContain('Sequence: ABBAABBA.');
  });

  it('says in one line what was found', () => {
    expect(onOneLine(rendered('terminal', record))).toContain(
      "8 trials; 1.13.1 against 1.11.3, beside the cluster's DNS: more CPU (+20m) for internal names, more CPU (+16m) for external names.",
    );
  });

  it('tells of a p99 that doubles, and calls it a difference only where the pairs show it', () => {
    const seconds = { A: [0.011, 0.014, 0.018, 0.03], B: [0.04, 0.012, 0.09, 0.05] };
    const withTail = (own: readonly number[]) =>
      withEvidence(record, (evidence, index) => ({
        ...evidence,
        phases: evidence.phases.map((phase) => {
          if (phase.kind !== 'internal' || phase.load === null) return phase;
          const p99 = (evidence.side === 'A' ? seconds.A : own)[Math.floor(index / 2)] ?? 0;
          return {
            ...phase,
            load: { ...phase.load, latencyPercentiles: [{ percentile: 99, seconds: p99 }] },
          };
        }),
      }));
    const said = (made: SwapRecord) => onOneLine(rendered('markdown', made));
    expect(said(withTail(seconds.B))).toMatch(
      /\(no difference shown\): For names of the cluster, latency p99 was 45\.0 ms with 1\.13\.1 against 16\.0 ms with 1\.11\.3: no difference shown, \+\d+ % \\?\[-\d+, \+\d+\\?\]\./,
    );
    expect(said(withTail(seconds.A.map((value) => 3 * value)))).toMatch(
      /latency p99 was 48\.0 ms with 1\.13\.1 against 16\.0 ms with 1\.11\.3: higher, \+200\.0 %/,
    );
    expect(
      said(withTail(seconds.A.map((value, index) => value * (index % 2 === 0 ? 1.4 : 0.8)))),
    ).not.toContain('latency p99 was');
  });

  it('of loads in which a generator was the limit says so, and compares neither their p99 nor their losses', () => {
    const limited = (wasTheLimit: boolean) =>
      withEvidence(record, (evidence) => ({
        ...evidence,
        phases: evidence.phases.map((phase) => {
          if (phase.kind !== 'internal' || phase.load === null) return phase;
          const seconds = evidence.side === 'A' ? 0.2 : 0.1;
          const each = [{ startSeconds: null, endSeconds: null, cpuSeconds: 1, cpuCores: 1, wasTheLimit }];
          const load = { ...phase.load, latencyPercentiles: [{ percentile: 99, seconds }] };
          return { ...phase, load, loaders: { overlap: null, each } };
        }),
      }));
    const said = (made: SwapRecord) => onOneLine(rendered('markdown', made));
    expect(said(limited(false))).toContain('latency p99 was 100 ms with 1.13.1 against 200 ms');
    const made = limited(true);
    const [a, b] = made.cases;
    expect([a?.bounds['p99-internal'], b?.bounds['p99-external']]).toEqual([4, 0]);
    expect(b?.comparison?.deltas['p99-internal']).toBeNull();
    expect(b?.comparison?.deltas['net-internal']).not.toBeNull();
    expect(said(made)).not.toContain('latency p99 was');
    expect(said(made)).toContain('In 8 of 16 loads a load generator was the limit');
    expect(said(made)).toMatch(/\| ≤ 100 ms/);
    // Records with figures from before this was judged.
    const old = { ...limited(false), trials: made.trials.map((trial) => ({ ...trial, bounds: [] })) };
    expect(said(old as SwapRecord)).not.toContain('latency p99 was');
  });

  it('has one row of data for each placement, in base units', () => {
    const [head = '', ...rows] = rendered('csv', record).trim().split('\n');
    expect(head.split(',').slice(0, 7)).toEqual([
      ...['case', 'subject', 'method', 'rate', 'round', 'status', 'idle'],
    ]);
    expect(rows).toHaveLength(8);
    expect(rows[0]).toContain('coredns@1.11.3,shadow,2000,0,ok,0.006,');
  });

  it('in place says what the canary lost of each placement, and how everything was put back', () => {
    const during = [null, 12, null, 8];
    const choices = eightPlacements(100, 120).map((choice, index) => ({
      ...choice,
      canary: { during: during[index] ?? null, after: index === 2 ? 1 : 0 },
    }));
    const closing = [
      'Everything was as before 4.3 s after the last placement.',
      'image: reverted',
      'image: reverted',
    ];
    const settings = { ...record.settings, method: 'in-place' as const };
    const shown = rendered('markdown', makeSwap(choices, { settings, closing }), 200);
    expect(shown).toMatch(/\| 2 B +\| 1\.13\.1 .*\| +12 of 200 \| +0 of 5,000 \| yes/);
    expect(shown).toContain(
      '## At the end\n\n- Everything was as before 4.3 s after the last placement.\n- image: reverted (2 times)\n',
    );
  });

  it('of a run that was killed says how far it came', () => {
    const killed = makeSwap(eightPlacements(100, 120).slice(0, 3), { status: 'running', endedAt: null });
    expect(onOneLine(rendered('terminal', killed))).toContain('not finished; 3 of 4 trials');
  });
});

describe('the canary of a whole swap', () => {
  const counts = (sent: number, lost: number) => ({
    ...{ seconds: sent / 20, sent, lost, longestLossSeconds: Math.ceil(lost / 20) },
  });

  it('tells rolling updates from the rest of the time', () => {
    const rollouts = [counts(200, 12), counts(200, 8), counts(200, 10)];
    expect(canarySentence({ rollouts, between: [counts(10_000, 1), counts(10_000, 0)] })).toBe(
      'The canary lost 30 of 600 (5.00%) queries during 3 rolling updates, 10.0 each; losses lasted 1 s in a row at most, and 1 of 20,000 (0.01%) in the rest of the time.',
    );
  });

  it('says in few words that rolling updates lost nothing, or that there was none', () => {
    expect(canarySentence({ rollouts: [counts(400, 0)], between: [counts(20_000, 0)] })).toBe(
      'The canary lost 0 of 400 (0.00%) queries during 1 rolling update, and 0 of 20,000 (0.00%) in the rest of the time.',
    );
    expect(canarySentence({ rollouts: [], between: [counts(200, 3)] })).toBe(
      'The canary lost 3 of 200 (1.50%) queries.',
    );
  });
});
