/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/shared-machine/picture.ts FILE RUN > docs/images/allowance.svg`
 *
 * The picture of docs/method.md: the trials of one run of a series against the CPU that others took, with a line for each server, and
 * below it the difference of both as measured, after allowing for what others took, and of all runs without a neighbour.
 */
import type { TopLevelSpec } from 'vega-lite';
import { FILE_LOOK, frame, seriesFrom, serverChannels } from '../../src/report/charts/chart.ts';
import { slimSvg, standaloneSvg } from '../../src/report/charts/compose.ts';
import { renderPlot } from '../../src/report/charts/render.ts';
import { INK } from '../../src/report/charts/theme.ts';
import { median } from '../../src/stats/intervals.ts';
import { deltaOf, pooled, WAYS } from './comparisons.ts';
import { DIFFERENT } from './figures.ts';
import { readSeries } from './runs.ts';

const SERVERS = [
  { name: 'coredns1', title: 'CoreDNS' },
  { name: 'nsd1', title: 'NSD' },
] as const;

const [file = '', id = ''] = process.argv.slice(2);
const runs = await readSeries(file);
const run = runs.find((each) => each.id === id);
const delta = run && deltaOf(run, DIFFERENT, 'qps');
const alone = deltaOf(pooled(runs.filter(({ share }) => share === 0)), DIFFERENT, 'qps');
if (run === undefined || delta?.allowance == null || alone === null)
  throw new Error(`${file}: needs run ${id}, with an allowance, and runs without a neighbour`);
const { allowance } = delta;
const { slope, referenceCores } = allowance;

const points = SERVERS.flatMap(({ name: server }) =>
  run.trials[server].map(({ causes, figures }) => ({ server, taken: causes.taken, qps: figures.qps ?? 0 })),
);
const most = Math.max(...points.map(({ taken }) => taken));
const lines = SERVERS.flatMap(({ name: server }) => {
  const level = median(
    points
      .filter((point) => point.server === server)
      .map(({ taken, qps }) => Math.log(qps) - slope * (taken - referenceCores)),
  );
  return [referenceCores, most].map((taken) => ({
    server,
    taken,
    qps: Math.exp(level + slope * (taken - referenceCores)),
  }));
});
const [plain, adjusted] = WAYS.map(([, pick]) => pick(delta));
const intervals = [
  { way: 'as measured', value: allowance.plain.relative, ...plain },
  { way: 'allowing for others', value: delta.relative, ...adjusted },
  { way: 'machine of its own', value: alone.relative, low: alone.low, high: alone.high },
].map(({ value, low, high, ...each }) => ({
  ...each,
  ...{ value: 1 + value, low: 1 + (low ?? value), high: 1 + (high ?? value) },
}));

const look = { ...FILE_LOOK, height: 300 };
const servers = seriesFrom(SERVERS);
const { color, shape } = serverChannels({ servers });
const taken = {
  field: 'taken',
  type: 'quantitative' as const,
  title: 'CPUs that others took during the trial',
};
const qps = {
  ...{ field: 'qps', type: 'quantitative' as const, title: 'queries per second (logarithmic)' },
  scale: { type: 'log' as const },
};
const way = { field: 'way', type: 'nominal' as const, title: null, sort: null };
const ratio = (field: string) => ({
  ...{ field, type: 'quantitative' as const, title: 'queries per second, NSD ÷ CoreDNS' },
  scale: { zero: false },
});
const rule = { type: 'rule' as const, strokeWidth: 2, color: INK.light };
const spec: TopLevelSpec = {
  ...frame(look),
  spacing: 30,
  vconcat: [
    {
      ...{ width: look.width - 160, height: look.height },
      layer: [
        {
          data: { values: points },
          mark: { type: 'point', filled: true, size: 60 },
          encoding: { x: taken, y: qps, color, shape },
        },
        {
          data: { values: lines },
          mark: { type: 'line', strokeWidth: 2 },
          encoding: { x: taken, y: qps, color },
        },
      ],
    },
    {
      ...{ width: look.width - 160, height: 90, data: { values: intervals } },
      layer: [
        { mark: rule, encoding: { y: way, x: ratio('low'), x2: { field: 'high' } } },
        {
          mark: { type: 'point', filled: true, size: 80, color: INK.light },
          encoding: { y: way, x: ratio('value') },
        },
      ],
    },
  ],
};
const drawn = {
  name: 'allowance',
  series: new Set(servers.map(({ name }) => name)),
  title: 'The more CPU others take, the fewer queries a server answers',
  caption:
    `${points.length} trials of one of the runs beside a neighbour; both lines have the same slope. Compared along them, the ratio of the ` +
    'two servers comes nearer to that of a machine of its own (all runs without the neighbour) than as measured. With 95 % intervals.',
  plot: await renderPlot(spec),
};
process.stdout.write(slimSvg(standaloneSvg(drawn, servers, look)));
