/** Bounded parallelism. */

/** Calls `act` for each item, at most `width` at a time. The first failure stops the rest from being started. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await act(item);
  };
  const workers = Array.from({ length: Math.min(width, items.length) }, worker);
  await Promise.all(workers);
}
