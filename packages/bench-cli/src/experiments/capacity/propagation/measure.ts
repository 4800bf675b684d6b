/** One start of CoreDNS: Services are created one after the other, and asked for until they resolve. */
import { createDnsClient, type DnsClient } from '../../../dns/client.ts';
import type { ServiceChange } from '../api-control.ts';
import {
  type CorednsContext,
  type CorednsRequest,
  type DeployedCoredns,
  deployCoredns,
} from '../deploy-coredns.ts';
import { untilReady } from '../memory/start.ts';
import type { PropagationEvidence } from './evidence.ts';
import { type Polled, pollUntilRight } from './poll.ts';

export interface PropagationContext extends CorednsContext {
  /** Services of a trial. */
  readonly services: number;
  readonly pollSeconds: number;
  readonly timeoutSeconds: number;
  onPhase(phase: string): void;
}

/** Enough for the answer to the announcement and a few queries before the Service comes, also on a busy machine. */
const LEAD_MILLISECONDS = 20;
/** The lead varies by as much, so that it does not go in step with the churn or with the timers of this machine. */
const VARIED_MILLISECONDS = 7;

/** Not counted: the first answers of a start take longer. */
const WARMUP_SERVICES = 3;

interface Observed extends Polled {
  readonly name: string;
}

/** Announces a Service and asks for it until it resolves. */
async function observe(
  { world: { clock }, pollSeconds, timeoutSeconds, signal }: PropagationContext,
  { running }: DeployedCoredns,
  client: DnsClient,
  index: number,
): Promise<Observed> {
  const lead = (LEAD_MILLISECONDS + (index % VARIED_MILLISECONDS)) / 1000;
  const service = await running.api.announce(lead);
  const deadline = clock.monotonicSeconds() + lead + timeoutSeconds;
  const polled = await pollUntilRight(service, {
    client,
    clock,
    intervalSeconds: pollSeconds,
    deadline,
    signal,
  });
  return { name: service.name, ...polled };
}

/** What was seen beside the moments at which the API server had each Service. */
export function figuresOf(
  observed: readonly Observed[],
  changes: readonly ServiceChange[],
  seconds: number,
): PropagationEvidence {
  const createdAt = new Map(
    changes.flatMap(({ type, name, monotonicSeconds }) =>
      type === 'ADDED' ? [[name, monotonicSeconds] as const] : [],
    ),
  );
  const resolved = observed.flatMap(({ name, answeredAt, lastWrongSentAt }) => {
    const created = createdAt.get(name);
    if (answeredAt === null || created === undefined) return [];
    const delay = answeredAt - created;
    // It cannot have resolved before it existed.
    return [{ delay, resolution: Math.min(delay, answeredAt - (lastWrongSentAt ?? created)) }];
  });
  const own = new Set(observed.map(({ name }) => name));
  return {
    delaysSeconds: resolved.map(({ delay }) => delay),
    resolutionsSeconds: resolved.map(({ resolution }) => resolution),
    unresolved: observed.length - resolved.length,
    queries: observed.reduce((sum, { queries }) => sum + queries, 0),
    heldChurnPerSecond: changes.filter(({ name }) => !own.has(name)).length / seconds,
  };
}

async function measureCase(
  context: PropagationContext,
  deployed: DeployedCoredns,
  client: DnsClient,
  churnPerSecond: number,
): Promise<PropagationEvidence> {
  const { clock } = context.world;
  const { api } = deployed.running;
  await api.churn(churnPerSecond);
  for (let index = 0; index < WARMUP_SERVICES; index += 1) await observe(context, deployed, client, index);
  const { resourceVersion } = await api.status();
  const begin = clock.monotonicSeconds();
  const observed: Observed[] = [];
  for (let index = 0; index < context.services; index += 1) {
    if (index % 10 === 0) context.onPhase(`${index} of ${context.services} Services`);
    observed.push(await observe(context, deployed, client, index));
  }
  const seconds = clock.monotonicSeconds() - begin;
  await api.churn(0);
  return figuresOf(observed, await api.changesAfter(resourceVersion), seconds);
}

/** Starts CoreDNS and measures it at a rate of changes. */
export async function measureStart(
  context: PropagationContext,
  request: CorednsRequest,
  churnPerSecond: number,
): Promise<PropagationEvidence> {
  const { world, signal } = context;
  // Nobody asks any longer when CoreDNS has ended.
  const ended = new AbortController();
  const asking = { ...context, signal: AbortSignal.any([signal, ended.signal]) };
  let deployed: DeployedCoredns | undefined;
  let client: DnsClient | undefined;
  try {
    await world.fs.mkdir(request.directory, { recursive: true });
    context.onPhase('starting');
    deployed = await deployCoredns(context, request);
    const { running, instance } = deployed;
    await untilReady({ ...context, ...request, running });
    client = createDnsClient({ address: instance.address, port: instance.port }, 'udp', world.clock);
    return await Promise.race([measureCase(asking, deployed, client, churnPerSecond), running.died]);
  } finally {
    ended.abort();
    client?.close();
    await deployed?.deployment.remove();
  }
}
