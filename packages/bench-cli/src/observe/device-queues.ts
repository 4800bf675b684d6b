/** What the queues of network devices (qdiscs) dropped, as `tc` of iproute2 says: the kernel tells nobody but netlink. */
import { z } from 'zod';
import { runToEnd } from '../process.ts';
import { jsonIn } from '../text.ts';
import type { World } from '../world.ts';

const queuesSchema = z.array(
  z.object({
    kind: z.string(),
    dev: z.string(),
    root: z.boolean().optional(),
    ingress: z.boolean().optional(),
    drops: z.number().default(0),
  }),
);

/**
 * Parses `tc -s -j qdisc show`; without `devices`, all of them. Pure.
 *
 * Packets dropped by the queues of the devices: those of their roots, which include those of the queues below them, and of
 * filters on arrival. `canDrop`: whether there is any queue but `noqueue`, which drops nothing.
 */
export function parseQueues(text: string, devices?: readonly string[]) {
  const parsed = queuesSchema.safeParse(jsonIn(text));
  if (!parsed.success) return null;
  const counted = parsed.data.filter(
    ({ kind, dev, root }) =>
      kind !== 'noqueue' &&
      (root === true || kind === 'ingress' || kind === 'clsact') &&
      (devices?.includes(dev) ?? true),
  );
  return { dropped: counted.reduce((sum, { drops }) => sum + drops, 0), canDrop: counted.length > 0 };
}

/** Runs a program within the namespace of a process; null where it is missing or fails. */
async function outputOf(
  world: World,
  enter: readonly string[],
  command: readonly string[],
): Promise<string | null> {
  const done = await runToEnd(world, [...enter, ...command]).catch(() => null);
  return done === null || done.code !== 0 ? null : done.stdout;
}

/** The devices by which packets leave for an address; null if `ip` does not say: all of them, then. */
async function devicesTo(world: World, enter: readonly string[], address: string): Promise<string[] | null> {
  const text = await outputOf(world, enter, ['ip', '-j', 'route', 'get', address]);
  const routes = z.array(z.object({ dev: z.string() })).safeParse(jsonIn(text ?? ''));
  return routes.success ? routes.data.map(({ dev }) => dev) : null;
}

/** Reads how many packets were dropped so far; null if that cannot be read. */
export type QueueReader = () => Promise<number | null>;

/**
 * Looks once at which queues there are. `enter`: the command that enters their namespace, empty for that of bench. `to`: only
 * those on the way to this address.
 */
export async function openQueueReader(
  world: World,
  enter: readonly string[],
  to?: string,
): Promise<QueueReader> {
  const show = () => outputOf(world, enter, ['tc', '-s', '-j', 'qdisc', 'show']);
  const devices = to === undefined ? null : await devicesTo(world, enter, to);
  const parse = (text: string | null) => (text === null ? null : parseQueues(text, devices ?? undefined));
  const first = parse(await show());
  if (first === null) return async () => null;
  return first.canDrop ? async () => parse(await show())?.dropped ?? null : async () => 0;
}
