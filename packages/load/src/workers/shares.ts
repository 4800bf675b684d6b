/** How a run's load is divided among its workers. */
import type { CannonOptions } from '../options.ts';
import type { Share } from './thread-messages.ts';

/** Part `index` of a whole number split into `parts`, as equal as possible; the first ones are larger by one. */
function part(whole: number, parts: number, index: number): number {
  return Math.floor(whole / parts) + (index < whole % parts ? 1 : 0);
}

/** One share per worker. `options` have been checked: there is enough for each. */
export function sharesOf({ workers, clients, load, maxQueries }: CannonOptions): Share[] {
  const lanes = clients ?? workers;
  let firstLane = 0;
  return Array.from({ length: workers }, (_, worker) => {
    const share: Share = {
      worker,
      workers,
      lanes: part(lanes, workers, worker),
      firstLane,
      window: load.kind === 'closed' ? part(load.outstanding, workers, worker) : null,
      limit: maxQueries === null ? null : part(maxQueries, workers, worker),
    };
    firstLane += share.lanes;
    return share;
  });
}
