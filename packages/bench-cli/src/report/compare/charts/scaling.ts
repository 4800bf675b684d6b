import type { CaseRecord } from '../../../results/record.ts';
import { isLowerBound } from '../../../stats/decisive.ts';
import { formatCpus, formatFixed, formatQps } from '../../numbers.ts';
import { type Draw, nameOf } from './data.ts';

const atLeast = (item: CaseRecord) => (isLowerBound(item) ? 'at least ' : '');

/** Throughput against tier, with the line on which twice the CPUs would mean twice the queries. */
export const scaling: Draw = ({ record, groups }) => {
  // What sets cases apart beside server and tier.
  const titleOf = (title: string) => title.replace(/^Tier [^,]+, /, '');
  const panels = [...Map.groupBy(groups, ({ title }) => titleOf(title))].map(([title, members]) => {
    const cases = members
      .flatMap((group) => group.cases)
      .flatMap((item) => (item.summary === null ? [] : [{ ...item, qps: item.summary.qps }]))
      .toSorted((a, b) => a.tier - b.tier);
    const lines = [...Map.groupBy(cases, ({ server }) => server)].flatMap(([series, own]) => {
      const [smallest] = own;
      if (smallest === undefined || own.length < 2) return [];
      const ideal = (tier: number) => (smallest.qps.median * tier) / smallest.tier;
      // Nobody knows what is ideal for a server that was not the limit at its smallest tier.
      const shareText = (item: (typeof own)[number]) =>
        isLowerBound(smallest)
          ? ''
          : `, ${atLeast(item)}${formatFixed((item.qps.median / ideal(item.tier)) * 100, 0)} % of ideal`;
      const line = own.map(({ tier }) => ({ x: tier, y: ideal(tier), tip: '' }));
      return [
        ...(isLowerBound(smallest) ? [] : [{ series, isMarked: false, isDashed: true, points: line }]),
        {
          series,
          points: own.map((item) => ({
            x: item.tier,
            y: item.qps.median,
            low: item.qps.low ?? item.qps.median,
            high: item.qps.high ?? item.qps.median,
            tip: `${nameOf(record, item)}: ${atLeast(item)}${formatQps(item.qps.median)} queries/s${shareText(item)}`,
          })),
        },
      ];
    });
    return { title, lines };
  });
  const drawn = panels.filter(({ lines }) => lines.length > 0);
  if (drawn.length === 0) return 'no server was measured in two tiers of the same mode';
  const tiers = [...new Set(record.cases.map(({ tier }) => tier))];
  return {
    type: 'lines',
    name: 'scaling',
    title: 'Scaling with CPUs',
    xAxis: 'tier (vCPUs)',
    yAxis: 'queries per second',
    xTicks: tiers.map((at) => ({ at, label: formatCpus(at) })),
    xFromZero: true,
    caption:
      'Queries per second against the tier (vCPUs in total); higher is better. Dashed: ideal, proportional to the ' +
      'median of the smallest tier. Whiskers: 95 % intervals.',
    panels: drawn,
  };
};
