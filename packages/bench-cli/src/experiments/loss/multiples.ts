/** The rates that are tried besides those of the search, as multiples of the limit. */

/** Of the limit: well below it, and beyond. */
const MULTIPLES: readonly number[] = [0.5, 1.25, 1.5, 2];

/** In rising order, with the limit itself, up to the overload. */
export function multiplesFor(overload: number): readonly number[] {
  return [...MULTIPLES.filter((multiple) => multiple < overload), 1, overload].toSorted((a, b) => a - b);
}
