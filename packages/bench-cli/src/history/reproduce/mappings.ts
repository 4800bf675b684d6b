/** Which cases of a run stand for the rows of a publication. To make another one reproducible, add a line here. */
import { parseServerName } from '../../config/server-name.ts';
import { BenchError } from '../../errors.ts';
import type { EntryCase } from '../entry.ts';
import type { PublicationName } from '../published.ts';
import type { Mapping } from './procedure.ts';

/** The plain kind, in whichever version: a variant is another configuration. */
function isKind(item: EntryCase, kind: string | null): boolean {
  const name = item.server === null ? null : parseServerName(item.server);
  return name !== null && name.kind === kind && name.variant === null;
}

/**
 * The published matrix: the same kind, tier, mode, workload and transport, without a rate. At tier 1 both modes of
 * CoreDNS are the same test there, so either will do. The baseline of a run comes before other versions of its kind.
 */
const blog: Mapping = (published, cases) => {
  const alike = cases.filter(
    (item) =>
      isKind(item, published.server) &&
      item.tier === published.tier &&
      item.workload === published.workload &&
      item.transport === published.transport &&
      item.ratePerSecond === null,
  );
  const isEitherMode = published.tier === 1 && published.server === 'coredns';
  return alike
    .filter(({ mode }) => mode === published.mode || isEitherMode)
    .toSorted(
      (a, b) =>
        Number(b.mode === published.mode) - Number(a.mode === published.mode) ||
        Number(b.isBaseline) - Number(a.isBaseline),
    );
};

const MAPPINGS: Readonly<Partial<Record<PublicationName, Mapping>>> = { blog };

/** Publications that `bench reproduce` compares; `lookup` has figures of its own, which stand beside a run without a verdict. */
export const REPRODUCIBLE = [...Object.keys(MAPPINGS), 'lookup'];

/** @throws BenchError `E_USAGE` for a publication whose cases bench cannot measure yet. */
export function mappingOf(name: PublicationName): Mapping {
  const mapping = MAPPINGS[name];
  if (mapping !== undefined) return mapping;
  throw new BenchError('E_USAGE', `bench cannot measure what publication "${name}" compares`, {
    fix: `Choose from ${REPRODUCIBLE.join(', ')}. Its figures: bench history --kind published --json.`,
  });
}
