/** When answers are right again: names that are asked for until one of them has the address that it should have. */
import { type ClusterSpec, defineCluster, serviceName } from '@dinodns-bench/cluster-objects';
import { type DnsClient, DnsQueryError } from '../../../dns/client.ts';
import type { World } from '../../../world.ts';
import type { AnnouncedService, ApiControl } from '../api-control.ts';

/** A name and its right answer. */
export type Right = AnnouncedService;

/** Each is asked for once, as long as there are any, so that no cache has it. */
const NAMES = 48;

/** Between two questions: a tenth of the time so far, so that it is known to a tenth; and few names last for this long. */
const NAMES_LAST_SECONDS = 6;
const POLL_SHARE = 0.1;
const ASK_SECONDS = 1;

interface Waiting {
  readonly world: Pick<World, 'clock'>;
  readonly signal: AbortSignal;
}

/** Services that the cluster has from the beginning, from all of it; the last one first, since CoreDNS gets it last. */
export function presentNames(spec: ClusterSpec): Right[] {
  const cluster = defineCluster(spec);
  const others = spec.services - cluster.headlessServices;
  const count = Math.min(NAMES, others);
  return Array.from({ length: count }, (_, at) => {
    const service = cluster.service(
      cluster.nthService(false, others - 1 - Math.floor((at * others) / count)),
    );
    return { name: serviceName(cluster, service), address: service.addresses[0] ?? '' };
  });
}

/** Services that will be created after a while, also while nobody can reach the API server. */
export function announcedNames(api: Pick<ApiControl, 'announce'>, afterSeconds: number): Promise<Right[]> {
  return Promise.all(Array.from({ length: NAMES }, () => api.announce(afterSeconds)));
}

async function isRight(client: DnsClient, { name, address }: Right): Promise<boolean> {
  try {
    const { answers } = await client.ask({ name, type: 'A' }, { timeoutSeconds: ASK_SECONDS });
    const [data, ...others] = answers.flatMap((answer) => ('data' in answer ? String(answer.data) : []));
    return data === address && others.length === 0;
  } catch (error) {
    if (error instanceof DnsQueryError) return false;
    throw error;
  }
}

/** Until it is so; resolves with the seconds since `begin`. `names`: how many are asked for in turn. */
export async function until(
  { world: { clock }, signal }: Waiting,
  begin: number,
  isSo: (attempt: number) => Promise<boolean>,
  names = NAMES,
): Promise<number> {
  for (let attempt = 0; ; attempt += 1) {
    const isDone = await isSo(attempt);
    const seconds = clock.monotonicSeconds() - begin;
    if (isDone) return seconds;
    await clock.sleep(Math.max(NAMES_LAST_SECONDS / names, seconds * POLL_SHARE), signal);
  }
}

export function untilRight(
  waiting: Waiting & { readonly client: DnsClient },
  begin: number,
  names: readonly Right[],
): Promise<number> {
  const isSo = async (attempt: number) => {
    const right = names[attempt % names.length];
    return right === undefined || isRight(waiting.client, right);
  };
  return until(waiting, begin, isSo, names.length);
}
