/** Throughput against tier, with the line on which twice the CPUs would mean twice the queries. */
import type { CaseRecord } from '../../results/record.ts';
import { type CaseGroup, serverTitle } from '../cases.ts';
import { formatCpus, formatFixed, formatQps } from '../numbers.ts';
import { type Chart, type ChartData, frame, serverChannels } from './chart.ts';
import { CUT_NOTE, cut, reachOf } from './cut.ts';
import { panelFacet, panelGrid } from './panels.ts';

interface Series {
  readonly server: string;
  readonly panel: string;
  /** By ascending tier. */
  readonly cases: readonly (CaseRecord & { summary: NonNullable<CaseRecord['summary']> })[];
}

/** What sets cases apart beside server and tier: `single`, and workload and transport where there are several. */
function panelOf(group: CaseGroup): string {
  return group.title.replace(/^Tier [^,]+, /, '');
}

function seriesOf(data: ChartData): Series[] {
  const items = data.groups.flatMap((group) =>
    group.cases.flatMap((item) =>
      item.summary === null ? [] : [{ panel: panelOf(group), item: { ...item, summary: item.summary } }],
    ),
  );
  const bySeries = Map.groupBy(items, ({ panel, item }) => JSON.stringify([item.server, panel]));
  return [...bySeries.values()].flatMap((members) => {
    const [first] = members;
    const cases = members.map(({ item }) => item).toSorted((a, b) => a.tier - b.tier);
    return first === undefined || cases.length < 2
      ? []
      : [{ server: first.item.server, panel: first.panel, cases }];
  });
}

function pointsOf(data: ChartData, { server, panel, cases }: Series, reach: number) {
  const [smallest] = cases;
  return cases.map((item) => {
    const { median, low, high } = item.summary.qps;
    const ideal = smallest === undefined ? median : (smallest.summary.qps.median * item.tier) / smallest.tier;
    const share = `${formatFixed((median / ideal) * 100, 0)} % of ideal`;
    return {
      server,
      panel,
      tier: item.tier,
      value: median,
      ...cut(low ?? median, high ?? median, reach),
      ideal,
      tip: `${serverTitle(data.record, server)}, tier ${formatCpus(item.tier)}, ${panel}: ${formatQps(median)} queries/s, ${share}`,
    };
  });
}

export const scalingChart: Chart = {
  name: 'scaling',
  title: 'Scaling with CPUs',
  draw(data, look) {
    const series = seriesOf(data);
    if (series.length === 0) return { missing: 'no server was measured in two tiers of the same mode' };
    const reach = reachOf(series.flatMap(({ cases }) => cases.map(({ summary }) => summary.qps.median)));
    const points = series.flatMap((item) => pointsOf(data, item, reach));
    const panels = [...new Set(points.map(({ panel }) => panel))].map((title) => ({ title, cases: [] }));
    const { columns, spacing, ...size } = panelGrid(panels, look);
    const { color, shape } = serverChannels(data);
    const tiers = [...new Set(points.map(({ tier }) => tier))].toSorted((a, b) => a - b);
    const caption =
      'Queries per second against the tier (vCPUs in total); higher is better. Dashed: ideal, proportional to the ' +
      'median of the smallest tier. Whiskers: 95 % intervals.' +
      (points.some(({ isCutHigh }) => isCutHigh) ? CUT_NOTE : '');
    const x = {
      field: 'tier',
      type: 'quantitative' as const,
      scale: { zero: true, nice: false },
      axis: { title: 'tier (vCPUs)', values: tiers, format: '~r' },
    };
    const axis = { title: 'queries per second', format: ',~r', tickCount: 6 };
    const y = { field: 'value', type: 'quantitative' as const, scale: { zero: true, nice: true }, axis };
    const spec = {
      ...frame(look),
      data: { values: points },
      facet: panelFacet(panels),
      columns,
      spacing,
      spec: {
        ...size,
        layer: [
          {
            mark: { type: 'line' as const, strokeDash: [5, 4], strokeWidth: 1.5, opacity: 0.75, aria: false },
            encoding: { x, y: { ...y, field: 'ideal' }, color },
          },
          { mark: { type: 'line' as const, strokeWidth: 2.5, aria: false }, encoding: { x, y, color } },
          {
            mark: { type: 'rule' as const, strokeWidth: 1.5, aria: false },
            encoding: { x, y: { ...y, field: 'low' }, y2: { field: 'high' }, color },
          },
          {
            transform: [{ filter: 'datum.isCutHigh' }],
            mark: { type: 'text' as const, text: '▲', dy: 3, fontSize: look.fontSize - 2, aria: false },
            encoding: { x, y: { ...y, field: 'high' }, color },
          },
          {
            mark: { type: 'point' as const, filled: true, size: 70, opacity: 1 },
            encoding: { x, y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
          },
        ],
      },
    };
    return { spec, caption };
  },
};
