/** "Did you mean …": the known word nearest to a misspelt one. */

/** The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? a.length;
}

/** The nearest of `known`, if it is close enough to be meant; a known word with the same beginning counts. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  // A word of three letters may have one wrong.
  let bestDistance = Math.max(1, Math.min(2, wanted.length - 2), Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const lower = candidate.toLowerCase();
    const distance = lower.startsWith(wanted) && wanted !== '' ? 1 : editDistance(wanted, lower);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The fix for a word that is not one of `known`: the nearest first, then all of them. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  const all = `use one of ${known.join(', ')}`;
  return near === undefined ? all : `did you mean ${near}? Otherwise ${all}`;
}
