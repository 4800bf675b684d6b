/** Where the queries of a load were lost that got no answer. */
import { z } from 'zod';
import { count } from './record-units.ts';

/**
 * Where a query, or its answer, was lost:
 * - `late`: answered, but after the load generator had given up;
 * - `server-buffer`: the server's socket had no room for it (`drops` in /proc/net/udp);
 * - `server-queue`: it was still unread in the server's socket when the load was over;
 * - `server`: the server read it and did not answer it in time;
 * - `loader-buffer`: its answer found no room in a socket of the load generator;
 * - `softnet`: no room in a CPU's queue of received packets (/proc/net/softnet_stat);
 * - `qdisc`: a queue of a network device dropped it (`tc -s qdisc`);
 * - `conntrack`: connection tracking dropped it (/proc/net/stat/nf_conntrack);
 * - `firewall`: received by IP and not delivered to UDP, so a rule dropped it;
 * - `not-sent`: the kernel refused to send it;
 * - `closed-port`: no socket had its port;
 * - `unknown`: nothing that could be read counted it.
 */
export const LOSS_PLACES = [
  'server-buffer',
  'server-queue',
  'server',
  'late',
  'loader-buffer',
  'softnet',
  'qdisc',
  'conntrack',
  'firewall',
  'not-sent',
  'closed-port',
  'unknown',
] as const;
export type LossPlace = (typeof LOSS_PLACES)[number];

export const lossesSchema = z.object({
  /** As the load generator counts them. */
  lost: count,
  /** Queries by place, the largest number first and what is unknown last; they add up to `lost`. */
  places: z.array(z.object({ place: z.enum(LOSS_PLACES), queries: count })),
  /** What the kernel's and the load generator's counters rose by, from before the load to after it; null if unread. */
  counters: z.record(z.string(), z.number().nullable()),
  /** What could not be read and why, in sentences. */
  unread: z.array(z.string()),
});
export type Losses = z.output<typeof lossesSchema>;

/** Queries by place over several loads: the largest number first, and what is unknown last. */
export function sumPlaces(all: readonly Pick<Losses, 'places'>[]): Losses['places'] {
  const sums = new Map<LossPlace, number>();
  for (const { places } of all)
    for (const { place, queries } of places) sums.set(place, (sums.get(place) ?? 0) + queries);
  const isUnknown = ({ place }: Losses['places'][number]) => Number(place === 'unknown');
  return [...sums]
    .map(([place, queries]) => ({ place, queries }))
    .sort((a, b) => isUnknown(a) - isUnknown(b) || b.queries - a.queries);
}
