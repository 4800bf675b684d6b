import { NOT_COMPARED, shownOf } from '../../../stats/decisive.ts';
import { deltaFigures } from '../../../stats/deltas.ts';
import { serverTitle } from '../../cases.ts';
import type { DifferenceChart } from '../../document/document.ts';
import { deltaEnds, formatDelta } from '../../numbers.ts';
import { type Draw, nameOf } from './data.ts';

/** The verdicts as a picture: the difference of each case from its baseline, with its interval. */
export const differences: Draw = ({ record, delta, groups }) => {
  const compared = groups.flatMap(({ title, cases }) =>
    cases.flatMap((item) => {
      const shown = shownOf(item, record, 'qps');
      return shown === null ? [] : [{ title, item, shown }];
    }),
  );
  const told = compared.filter(({ shown }) => shown.verdict !== NOT_COMPARED);
  const omitted = compared.length - told.length;
  const rows = told.map(({ title, item, shown }): DifferenceChart['rows'][number] => {
    const { value, low, high } = deltaFigures(shown.delta, delta);
    const interval =
      low === null || high === null
        ? 'no interval; no difference can be shown'
        : `95 % interval ${deltaEnds(low, high).join(' to ')}; ${shown.isAtLeast ? 'a lower bound' : shown.verdict}`;
    const bound = shown.isAtLeast ? 'at least ' : '';
    return {
      label: [serverTitle(record, item.server), title],
      series: item.server,
      value,
      low,
      high,
      bound,
      tip: `${nameOf(record, item)}: ${bound}${formatDelta(value)} queries/s, ${interval}`,
    };
  });
  if (rows.length === 0)
    return omitted === 0
      ? 'nothing was compared with a baseline'
      : 'no throughput was limited by the servers';
  const bands = (record.noiseFloors ?? []).flatMap(({ comparison, floor }) => {
    const at = told.flatMap(({ item }, index) =>
      item.comparison?.baseline === comparison.baseline ? [index] : [],
    );
    return at.length === 0 || floor.qps === null
      ? []
      : [{ from: Math.min(...at), to: Math.max(...at), size: floor.qps }];
  });
  const baseline = serverTitle(record, record.baseline);
  return {
    type: 'differences',
    name: 'difference',
    title: 'Difference from the baseline',
    axis: `difference in queries per second (${delta})`,
    caption:
      `Queries per second against ${baseline} at the same point, ${delta} delta; to the right of the line is more. ` +
      'Whiskers: 95 % intervals; where they cross the line, no difference was shown.' +
      (omitted > 0 ? ` Omitted: ${omitted} whose throughput was not limited by the servers.` : '') +
      (bands.length > 0 ? ` Grey: the difference of ${baseline} from itself (the noise floor).` : ''),
    rows,
    bands,
  };
};
