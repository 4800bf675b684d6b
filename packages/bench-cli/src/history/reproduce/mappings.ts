/** Which cases of a run stand for the rows of a publication. Pure. */
import { parseServerName } from '../../config/server-name.ts';
import { METRIC_NAMES } from '../../stats/metrics.ts';
import { type EntryCase, isUnbound, UNLIMITED } from '../entry.ts';
import type { Mapping } from './procedure.ts';

/** The plain kind, in whichever version: a variant is another configuration. */
function isKind(item: EntryCase, kind: string | null): boolean {
  const name = item.subject === null ? null : parseServerName(item.subject);
  return name !== null && name.kind === kind && name.variant === null;
}

/**
 * The published matrix: the same kind, tier, mode, workload and transport, without a rate that bound. At tier 1 both modes of
 * CoreDNS are the same test there, so either will do. The baseline of a run comes before other versions of its kind.
 */
export const blogMapping: Mapping = (published, cases) => {
  const alike = cases.filter(
    (item) =>
      isKind(item, published.server) &&
      item.point.tier === published.tier &&
      item.point.workload === published.workload &&
      item.point.transport === published.transport &&
      isUnbound(item),
  );
  const isEitherMode = published.tier === 1 && published.server === 'coredns';
  return alike
    .filter(({ point }) => point.mode === published.mode || isEitherMode)
    .toSorted(
      (a, b) =>
        Number(b.point.mode === published.mode) - Number(a.point.mode === published.mode) ||
        Number(b.point.rate === UNLIMITED) - Number(a.point.rate === UNLIMITED) ||
        Number(b.isBaseline) - Number(a.isBaseline),
    );
};

/** A placement of `bench swap` has both name sets: for each a case, with CPU under load as published, idle included. */
function byNameSet(item: EntryCase): EntryCase[] {
  const { rate } = item.point;
  if (item.point.workload !== undefined || typeof rate !== 'number') return [item];
  return ['internal', 'external'].map((workload) => ({
    ...item,
    point: { workload, rate, transport: 'udp' },
    trials: item.trials.flatMap((trial) => {
      const [loaded, held] = ['loaded', 'held'].map((figure) => trial.figures[`${figure}-${workload}`]);
      const cores = loaded == null || held == null ? null : loaded / (rate * held);
      return cores === null ? [] : [{ ...trial, figures: { [METRIC_NAMES.cpuSecondsPerQuery]: cores } }];
    }),
  }));
}

/** The published versions with the same workload, at any fixed rate: the published one first. */
export const swapMapping: Mapping = (published, cases) => {
  const wanted = parseServerName(published.server ?? '');
  return cases
    .flatMap(byNameSet)
    .filter((item) => {
      const name = parseServerName(item.subject ?? '');
      return (
        isKind(item, wanted?.kind ?? null) &&
        name?.version === wanted?.version &&
        item.point.workload === published.workload &&
        item.point.transport === published.transport &&
        typeof item.point.rate === 'number'
      );
    })
    .toSorted(
      (a, b) =>
        Number(b.point.rate === published.ratePerSecond) - Number(a.point.rate === published.ratePerSecond),
    );
};
