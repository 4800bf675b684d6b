/** From placements of a swap to verdicts, tables and sentences. */
import { describe, expect, it } from 'vitest';
import { summaryOf } from '../src/experiments/swap/document.ts';
import type { SwapRecord } from '../src/experiments/swap/record.ts';
import { swapRecords } from '../src/experiments/swap/records.ts';
import { swapResults } from '../src/experiments/swap/results.ts';
import { publishedRecord } from '../src/history/published.ts';
import { formatJson } from '../src/results/json-text.ts';
import { loadVisibility, visibilityProblem } from '../src/stats/load-visibility.ts';
import { detectableDifference } from '../src/stats/sample-test.ts';
import { eightPlacements, makeSwap, type PlacementChoice } from './fixtures/make-swap.ts';

const resultOf = (record: SwapRecord, workload = 'internal') => {
  const row = record.results.find((one) => one.side === 'B' && one.workload === workload);
  if (row?.difference == null) throw new Error('no result');
  return { ...row, difference: row.difference };
};

function rendered(name: string, record: SwapRecord, columns = 80): string {
  const opened = swapRecords.open({ text: formatJson(record), path: 'run.json' });
  return opened.render(name, { delta: 'relative', columns }) ?? '';
}

describe('the verdict of a swap', () => {
  it.each([
    ['more', 100, 120, 2],
    ['less', 100, 80, 2],
    ['no difference shown', 100, 101, 8],
  ])('is "%s" where net CPU goes from %i m to %i m', (verdict, a, b, scatter) => {
    const { difference } = resultOf(makeSwap(eightPlacements(a, b, scatter)));
    expect(difference).toMatchObject({ verdict, pairs: 4, reasons: [] });
    expect(
      (difference.lowCores ?? 0) <= (b - a) / 1000 && (b - a) / 1000 <= (difference.highCores ?? 0),
    ).toBe(true);
  });

  it('rests on placements: a minute of equal readings more does not make it surer', () => {
    const choices = eightPlacements(100, 104, 8);
    const once = resultOf(makeSwap(choices)).difference;
    const record = makeSwap(choices);
    const longer = record.placements.map((placement) => ({
      ...placement,
      phases: placement.phases.map((phase) => ({
        ...phase,
        observation:
          phase.observation === null
            ? null
            : { ...phase.observation, samples: phase.observation.samples.flatMap((one) => [one, one, one]) },
      })),
    }));
    expect(resultOf(makeSwap(choices, { placements: longer })).difference).toEqual(once);
  });

  it('says how small a difference so many placements could show, and that one pair shows none', () => {
    const { difference } = resultOf(makeSwap(eightPlacements(100, 101, 8)));
    expect(difference.detectableCores).toBeGreaterThan(Math.abs(difference.netCores ?? 0));
    const one = resultOf(makeSwap(eightPlacements(100, 150).slice(0, 2))).difference;
    expect(one).toMatchObject({ verdict: 'no difference shown', lowCores: null, detectableCores: null });
  });

  it('does not take pairs apart: a placement that does not count takes its partner with it', () => {
    const choices = eightPlacements(100, 120);
    const lost = choices.map(
      (choice, index): PlacementChoice => (index === 2 ? { ...choice, held: 0.9 } : choice),
    );
    const { difference, placements } = resultOf(makeSwap(lost));
    expect(difference).toMatchObject({ pairs: 3, reasons: ['placement 3: 90.0 % of the rate was held'] });
    expect(placements).toBe(3);
  });

  it.each(['reverted', 'restarted', 'mixed-versions'] as const)(
    'is "not comparable" if all were %s',
    (reason) => {
      const failure = { reason, message: `they were ${reason}` };
      const { difference } = resultOf(
        makeSwap(eightPlacements(100, 120).map((one) => ({ ...one, failure }))),
      );
      expect(difference.verdict).toBe('not comparable');
      expect(difference.reasons).toContain(`placement 1: they were ${reason}`);
    },
  );

  it('is "load not visible" where CPU under load is that of idle, whatever the difference', () => {
    const { difference } = resultOf(makeSwap(eightPlacements(2, 9, 0.5, 280)));
    expect(difference.verdict).toBe('load not visible');
    expect(difference.reasons.join()).toMatch(
      /A: the load is not visible in the CPU figures: they rise by \dm above idle, and the load should cost 80m or more/,
    );
  });
});

it('the smallest difference that can be shown is shown in about four of five swaps', () => {
  // A generator of its own: the test gives the same answer every time.
  let state = 42;
  const uniform = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state + 0.5) / 2147483648;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  // For six pairs with a scatter of 1, from the formula's own variance of 1.
  const wanted = detectableDifference([1, -1, 1, -1, 1, -1].map((x) => x * Math.sqrt(5 / 6))) ?? 0;
  let shown = 0;
  for (let run = 0; run < 2000; run++) {
    const values = Array.from({ length: 6 }, () => wanted + normal());
    const mean = values.reduce((sum, x) => sum + x, 0) / 6;
    const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 5);
    if (mean - (2.5706 * deviation) / Math.sqrt(6) > 0) shown += 1;
  }
  expect(shown / 2000).toBeGreaterThan(0.74);
  expect(shown / 2000).toBeLessThan(0.88);
});

describe('the warning that the load is not visible', () => {
  const { record } = publishedRecord('swap');

  it.each(record.cases.map((item) => [item.title ?? item.key, item] as const))(
    'fires on the published samples of %s',
    (_, item) => {
      const readings = item.samples?.cpuCores ?? [];
      const visibility = loadVisibility({
        idleCores: null,
        loadedCores: null,
        readings,
        seconds: 60,
        ratePerSecond: item.ratePerSecond ?? 0,
      });
      if (visibility === null) throw new Error('no samples');
      expect(visibility).toMatchObject({ isVisible: false, expectedCores: 0.08, hasFewReadings: true });
      expect(visibilityProblem(visibility)).toMatch(/when the load starts.*\d distinct readings/);
    },
  );

  it('fires on them as placements of a swap, too, and its report says that nothing can be said', () => {
    const samplesOf = (side: string, workload: string) =>
      record.cases.find(({ key }) =>
        key.startsWith(`coredns@${side === 'A' ? '1.11.3' : '1.13.1'}/${workload}`),
      )?.samples?.cpuCores ?? [];
    const made = makeSwap(eightPlacements(276, 290).slice(0, 2));
    // Idle was not measured.
    const placements = made.placements.map((placement) => ({
      ...placement,
      phases: placement.phases.flatMap((phase) => {
        if (phase.kind === 'idle' || phase.observation === null) return [];
        const cores = samplesOf(placement.side, phase.kind);
        const samples = cores.map((cpuCores, index) => ({
          atSeconds: 5.5 * index,
          cpuCores,
          memoryBytes: null,
        }));
        return [{ ...phase, observation: { ...phase.observation, samples } }];
      }),
    }));
    const { settings } = made;
    const published = { ...made, placements, results: swapResults({ placements, settings }) };
    for (const workload of ['internal', 'external'])
      expect(resultOf(published, workload).difference.verdict).toBe('load not visible');
    expect(rendered('markdown', published)).toContain(
      '(load not visible): Nothing can be said about names of the cluster. A: the load is not visible in the CPU figures',
    );
    expect(rendered('markdown', made)).not.toContain('load not visible');
  });

  it('says that nothing can be seen where there are three readings and no idle', () => {
    const base = { idleCores: null, loadedCores: 0.05, seconds: 2, ratePerSecond: 2000 };
    const visibility = loadVisibility({ ...base, readings: [0.05, 0.05, 0.05] });
    expect(visibilityProblem(visibility ?? expect.fail())).toMatch(/idle was not measured/);
  });

  it('does not fire on a run where the load shows, with idle or without', () => {
    const loaded = [0.006, 0.007, 0.006, 0.09, 0.1, 0.098, 0.102, 0.099, 0.1, 0.101];
    const base = { loadedCores: null, readings: loaded, seconds: 60, ratePerSecond: 2000 };
    expect(loadVisibility({ ...base, idleCores: null })?.isVisible).toBe(true);
    expect(loadVisibility({ ...base, idleCores: 0.006 })?.isVisible).toBe(true);
    expect(visibilityProblem(loadVisibility({ ...base, idleCores: 0.006 }) ?? expect.fail())).toBe('');
  });
});

describe('the report of a swap', () => {
  const record = makeSwap(eightPlacements(100, 120));

  it('has the published table, the one with intervals, and what clients saw', () => {
    const shown = rendered('markdown', record);
    for (const row of [
      '| Version | Workload Type | Average CPU (mCores) |',
      '| Version | Workload | Placements | Idle | Under load |',
      '| Version | Workload |',
    ])
      expect(shown).toContain(row);
    expect(shown).toMatch(/\| 1\.13\.1 +\| Internal +\| +125m \| \+19m \(\+18\.\d %\) \|/);
    expect(shown).toMatch(/\*\*more\*\*/);
  });

  it('warns where Go, or how it was built, differs between both sides, and only there', () => {
    const build = {
      platform: 'linux/amd64',
      goVersion: '1.23.9',
      vendor: 'Red Hat 1.23.9-1.el9_6',
      fips: 'strictfipsruntime',
      revision: null,
    };
    const withBuilds = (b: readonly object[]) => {
      const { A, B } = record.versions;
      const versions = { A: { ...A, builds: [build] }, B: { ...B, builds: b } };
      return rendered('markdown', { ...record, versions } as SwapRecord, 200);
    };
    const shown = withBuilds([{ ...build, goVersion: '1.24.6', fips: null }]);
    expect(shown).toContain(
      '- CoreDNS is not all that changed: Go differs, 1.23.9 in 1.11.3 and 1.24.6 in 1.13.1.\n',
    );
    expect(shown).toContain('the FIPS mode differs, strictfipsruntime in 1.11.3 and none in 1.13.1.\n');
    expect(shown).not.toContain('vendor differs');
    expect(shown).toContain('linux/amd64, Go 1.23.9 (Red Hat 1.23.9-1.el9_6), FIPS mode strictfipsruntime');
    for (const same of [
      withBuilds([{ ...build, revision: 'abc' }]),
      withBuilds([]),
      rendered('markdown', record),
    ])
      expect(same).not.toContain('not all that changed');
  });

  it('has each reading in a table and as CSV, and what each pod used', () => {
    const [first] = makeSwap(eightPlacements(100, 120).slice(0, 1)).placements;
    if (first === undefined) throw new Error('no placement');
    const pod = (name: string, node: string, cpuCores: number | null) => ({
      ...{ name, node, cpuCores, queries: null, cpuSeconds: null, memoryBytes: null, throttledSeconds: null },
    });
    const phases = first.phases.map((phase) => ({
      ...phase,
      instances: [
        pod('dns-1', 'node-1', phase.kind === 'idle' ? 0.003 : 0.111),
        pod('dns-2', 'node-2', null),
      ],
    }));
    const made = makeSwap([], { placements: [{ ...first, phases }] });
    const shown = rendered('markdown', made, 200);
    expect(shown).toMatch(/\| 1 A +\| 1\.11\.3 +\| dns-1 +\| node-1 +\| +3\.0m \| +111m \| +111m \|/);
    expect(shown).toMatch(/\| dns-2 +\| node-2 +\| +– \| +– \| +– \|/);
    expect(shown).toMatch(/\| 1 A +\| 1\.11\.3 +\| idle +\| 5\.4 6\.0 6\.6 6\.1 5\.9 6\.0 +\|/);
    const [head, ...rows] = rendered('readings', made).trim().split('\n');
    expect(head).toBe('placement,side,version,phase,phase_started_at,at_seconds,cpu_cores');
    expect(rows).toHaveLength(4 * 6);
    expect(rows[1]).toBe('1,A,1.11.3,idle,2026-11-22T08:00:05.000Z,15,0.006');
  });

  it('says which loads of a placement do not count, and which rate to try when some did not hold it', () => {
    const choices = eightPlacements(100, 120).map((choice, index) => ({
      ...choice,
      held: index === 3 ? 0.7 : 1,
    }));
    const shown = rendered('markdown', makeSwap(choices));
    expect(shown).toContain(
      'no: internal: 70.0 % of the rate was held; external: 70.0 % of the rate was held',
    );
    expect(shown).toContain('- placement 4: 70.0 % of the rate was held\n');
    expect(shown).toContain(
      '- 2 of 16 loads did not hold the rate, although it was held for 3 s before the first placement: the least reached 1,400 queries a second; give the nodes to nothing else, or repeat it with --rate 1100\n',
    );
    const { placements, settings, ...rest } = makeSwap(choices);
    const inPart = placements.map((placement) => ({
      ...placement,
      phases: placement.phases.map((phase) =>
        phase.kind === 'external' && phase.load !== null
          ? { ...phase, load: { ...phase.load, qps: 2000 } }
          : phase,
      ),
    }));
    const results = swapResults({ placements: inPart, settings });
    const partial = rendered('markdown', { ...rest, settings, placements: inPart, results });
    expect(partial).toContain('in part: internal: 70.0 % of the rate was held |');
    expect(partial).toContain('- internal, placement 4: 70.0 % of the rate was held\n');
    expect(rendered('markdown', record)).not.toContain('did not hold the rate');
  });

  it.each([60, 80, 132])('fits into %i columns', (columns) => {
    const lines = rendered('terminal', record, columns).split('\n');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns);
    expect(lines.join(' ')).toContain('What the load costs');
  });

  it('says in one line what was found', () => {
    expect(summaryOf(record)).toBe('shadow: 1.13.1 against 1.11.3: internal more, external more');
  });

  it('has one row of data for each placement and workload, in base units', () => {
    const [head = '', ...rows] = rendered('csv', record).trim().split('\n');
    expect(head.split(',').slice(0, 5)).toEqual(['placement', 'pair', 'side', 'version', 'workload']);
    expect(rows).toHaveLength(16);
    expect(rows[0]).toContain('1,1,A,1.11.3,internal,,0.006,');
  });

  it('in place says what the canary lost during rolling updates and otherwise, and how everything was put back', () => {
    const choices = eightPlacements(100, 120).slice(0, 4);
    const during = [null, 12, null, 8];
    const canaries = choices.map((choice, index) => ({
      ...choice,
      canary: { during: during[index] ?? null, after: index === 2 ? 1 : 0 },
    }));
    const image = { before: 'coredns:1.11.3', after: 'coredns:1.13.1' };
    const what = 'image of container coredns in Deployment kube-system/coredns';
    const restore = {
      seconds: 4.25,
      changes: [{ what, ...image, state: 'reverted' }],
      canary: { seconds: 10, sent: 200, lost: 10, longestLossSeconds: 1 },
      superseded: [],
    };
    const record = makeSwap(canaries, { method: 'in-place', restore });
    const shown = rendered('terminal', record).replaceAll(/\s+/g, ' ');
    expect(shown).toContain(
      'The canary lost 30 of 600 (5.00%) queries during 3 rolling updates, 10.0 each; losses lasted 1 s in a row at most, and 1 of 20,000 (0.01%) in the rest of the time.',
    );
    expect(shown).toContain('Everything was as before 4.3 s after the last placement.');
    expect(shown).toContain(`${what}: coredns:1.11.3 → coredns:1.13.1, reverted`);
    expect(rendered('markdown', record)).toMatch(/\| 2 B +\| 1\.13\.1 .*\| +12 of 200 \| +0 of 5,000 \| yes/);
    const [head = [], ...rows] = rendered('csv', record)
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    const column = head.indexOf('canary_lost_during_rollout');
    expect(rows.map((row) => row[column])).toEqual(['', '', '12', '12', '', '', '8', '8']);
  });

  it('in place says in few words that rolling updates lost nothing', () => {
    const choices = eightPlacements(100, 120).slice(0, 4);
    const record = makeSwap(
      choices.map((choice) => ({ ...choice, canary: { during: choice.side === 'B' ? 0 : null, after: 0 } })),
      { method: 'in-place' },
    );
    expect(rendered('terminal', record, 200)).toContain(
      'The canary lost 0 of 400 (0.00%) queries during 2 rolling updates, and 0 of 20,000 (0.00%) in the rest of the time.',
    );
  });

  it('in place, of a run that was killed, says how far it came and who puts it back', () => {
    const record = makeSwap(eightPlacements(100, 120).slice(0, 3), {
      method: 'in-place',
      status: 'running',
      endedAt: null,
      settings: { ...makeSwap([]).settings, sequence: 'ABBA' },
    });
    const shown = rendered('terminal', record).replaceAll(/\s+/g, ' ');
    expect(shown).toContain('Not finished: 3 of 4 placements measured.');
    expect(shown).toContain('the guard in the cluster does that');
  });

  it('in place, of a run that ended before its first load, says what clients saw of its rolling updates', () => {
    const [first] = makeSwap([
      { side: 'B', idle: 6, internal: 100, canary: { during: 3, after: 0 } },
    ]).placements;
    if (first === undefined) throw new Error('no placement');
    const placement = { ...first, phases: [], failure: { reason: 'failed' as const, message: 'stopped' } };
    const record = makeSwap([], { method: 'in-place', status: 'interrupted', placements: [placement] });
    const shown = rendered('terminal', record, 200);
    expect(shown).toContain('The canary lost 3 of 200 (1.50%) queries during 1 rolling update');
    expect(shown).toContain('no: stopped');
  });

  it('without any placement still says how it ended', () => {
    const failure = { code: 'E_NO_RATE', message: 'the rate cannot be held', fix: 'Give a lower one.' };
    const shown = rendered('terminal', makeSwap([], { failure, status: 'interrupted' }));
    expect(shown).toContain('Ended early, 0 of 0 placements measured: the rate cannot be held.');
  });
});
