/** Which cases of a run stand for the rows of a publication. To make another one reproducible, add a line here. */
import { parseServerName } from '../../config/server-name.ts';
import { BenchError } from '../../errors.ts';
import { type EntryCase, isUnbound, UNLIMITED } from '../entry.ts';
import type { PublicationName } from '../published.ts';
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
const blog: Mapping = (published, cases) => {
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

/** The published versions with the same workload, at any fixed rate: the published one first. */
const swap: Mapping = (published, cases) => {
  const wanted = parseServerName(published.server ?? '');
  return cases
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

interface Reproducible {
  readonly mapping: Mapping;
  /** Experiments whose runs have such cases: `latest` is the newest run of the first that has any. */
  readonly experiments: readonly string[];
  /** A command that measures them. */
  readonly example: string;
}

const MAPPINGS: Readonly<Partial<Record<PublicationName, Reproducible>>> = {
  blog: {
    mapping: blog,
    experiments: ['compare'],
    example: 'bench matrix --servers coredns,dinodns-stock --baseline coredns',
  },
  swap: {
    mapping: swap,
    experiments: ['swap', 'compare'],
    example:
      'bench run --servers coredns@1.11.3,coredns@1.13.1 --workload internal,external --rate 2000, or bench swap',
  },
};

/** Publications that `bench reproduce` compares; those after the mapped ones have figures of their own, and code of their experiments. */
export const REPRODUCIBLE = [...Object.keys(MAPPINGS), 'scaling', 'kube-dns', 'lookup'];

/** @throws BenchError `E_USAGE` for a publication whose cases bench cannot measure yet. */
export function mappingOf(name: PublicationName): Reproducible {
  const mapping = MAPPINGS[name];
  if (mapping !== undefined) return mapping;
  throw new BenchError('E_USAGE', `bench cannot measure what publication "${name}" compares`, {
    fix: `Choose from ${REPRODUCIBLE.join(', ')}. Its figures: bench history --kind published --json.`,
  });
}
