/** Compares the mix of response codes that a loader saw with the one that the workload predicts. Pure. */
import type { LoadResult } from '../results/record.ts';
import type { BenchWorkload } from '../workload/workload.ts';

function formatMix(counts: Iterable<readonly [string, number]>, total: number): string {
  return (
    [...counts].map(([code, count]) => `${code} ${((100 * count) / total).toFixed(2)} %`).join(', ') || 'none'
  );
}

/** Null if the response codes of a load are as its workload predicts; else what is wrong with them. */
export function codesProblem(
  load: LoadResult,
  predicted: ReadonlyMap<string, number>,
  loaders: number,
  known: NonNullable<BenchWorkload['codes']>,
): string | null {
  if (known === 'unknown') return null;
  return known === 'possible'
    ? unforeseenCode(load, predicted)
    : responseCodeProblem(load, predicted, loaders);
}

/** Answers with other codes than those; null: any will do. */
export function unexpectedIn(
  codes: Readonly<Record<string, number>>,
  expected: ReadonlySet<string> | null,
): number {
  const others = Object.entries(codes).filter(([code]) => expected?.has(code) === false);
  return others.reduce((sum, [, answers]) => sum + answers, 0);
}

/** Null if every code that came can come, where the workload does not decide how often; else what is wrong. */
function unforeseenCode(load: LoadResult, predicted: ReadonlyMap<string, number>): string | null {
  const unforeseen = Object.keys(load.responseCodes).filter((code) => !predicted.has(code));
  if (unforeseen.length === 0) return null;
  return `the workload predicts only ${[...predicted.keys()].join(', ')}; the server answered ${formatMix(Object.entries(load.responseCodes), load.queriesCompleted)}`;
}

/**
 * Null if the mix is correct, else what is wrong with it.
 *
 * Queries are sent in order, over and over, so any stretch of them has each code in proportion to within
 * one pass; a lost or interrupted query can be missing from any code. `loaders` passes may be incomplete.
 */
export function responseCodeProblem(
  load: LoadResult,
  predicted: ReadonlyMap<string, number>,
  loaders: number,
): string | null {
  const perPass = [...predicted.values()].reduce((total, count) => total + count, 0);
  const tolerance = perPass * loaders + load.queriesLost + load.queriesInterrupted;
  const codes = new Set([...predicted.keys(), ...Object.keys(load.responseCodes)]);
  for (const code of codes) {
    const expected = ((predicted.get(code) ?? 0) / perPass) * load.queriesCompleted;
    const actual = load.responseCodes[code] ?? 0;
    const unforeseen = !predicted.has(code) && actual > 0;
    if (unforeseen || Math.abs(actual - expected) > tolerance) {
      const seen = formatMix(Object.entries(load.responseCodes), load.queriesCompleted);
      return `the workload predicts ${formatMix(predicted, perPass)}; the server answered ${seen}`;
    }
  }
  return null;
}
