/** Bounded parallelism. */

/**
 * Calls `act` for each item, at most `width` at a time, and resolves with what they resolved with. The first failure stops the rest
 * from being started.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const queue = items.entries();
  const results: R[] = [];
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
