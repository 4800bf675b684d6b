/** Propagation on this machine: in each start of CoreDNS beside an API server of ours, Services are created one after the other, and asked for until they resolve. */
import { defineCluster, type ServiceChange, specForObjects } from '@dinodns-bench/cluster-objects';
import { createDnsClient, type DnsClient } from '../../../dns/client.ts';
import type {
  Measuring,
  Opened,
  PlannedTrial,
  TargetRequest,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { fileNameOf } from '../../../text.ts';
import type { World } from '../../../world.ts';
import type { ConfigurationName } from '../configurations.ts';
import { type DeployedCoredns, withCoredns } from '../deploy-coredns.ts';
import { type CorednsMachine, openCoredns } from '../machine.ts';
import { untilReady } from '../memory/start.ts';
import { evidenceOf, loadOf, type PropagationEvidence } from './evidence.ts';
import { type Polled, pollUntilRight } from './poll.ts';
import { type PropagationSettings, pollSecondsOf } from './settings.ts';

/** A tenth of the Services has no address of its own. */
const HEADLESS = 0.1;

/** Enough for the answer to the announcement and a few queries before the Service comes, also on a busy machine. */
const LEAD_MILLISECONDS = 20;
/** The lead varies by as much, so that it does not go in step with the churn or with the timers of this machine. */
const VARIED_MILLISECONDS = 7;

/** Not counted: the first answers of a start take longer. */
const WARMUP_SERVICES = 3;

/** How often changes are read: the API server remembers 65,536 of them, of which it may make 1,000 a second. */
const READ_SECONDS = 5;

interface Asking extends Pick<CorednsMachine, 'signal'> {
  readonly world: Pick<World, 'clock'>;
  readonly settings: Pick<PropagationSettings, 'services' | 'timeout' | 'poll' | 'target'>;
  readonly api: Pick<DeployedCoredns['running']['api'], 'announce' | 'churn' | 'status' | 'changesAfter'>;
  readonly client: DnsClient;
  onPhase(phase: string): void;
}

interface Named extends Polled {
  readonly name: string;
}

/** Announces a Service and asks for it until it resolves. */
async function observe(
  { world: { clock }, settings, api, client, signal }: Asking,
  index: number,
): Promise<Named> {
  const lead = (LEAD_MILLISECONDS + (index % VARIED_MILLISECONDS)) / 1000;
  const service = await api.announce(lead);
  const deadline = clock.monotonicSeconds() + lead + settings.timeout;
  const intervalSeconds = pollSecondsOf(settings);
  const polled = await pollUntilRight(service, { client, clock, intervalSeconds, deadline, signal });
  return { name: service.name, ...polled };
}

/** What was seen beside the moments at which the API server had each Service. */
export function figuresOf(
  observed: readonly Named[],
  changes: readonly Pick<ServiceChange, 'type' | 'name' | 'monotonicSeconds'>[],
  seconds: number,
): PropagationEvidence {
  const createdAt = new Map(
    changes.flatMap(({ type, name, monotonicSeconds }) =>
      type === 'ADDED' ? [[name, monotonicSeconds] as const] : [],
    ),
  );
  const services = observed.map(({ name, answeredAt, lastWrongSentAt, queries }) => {
    const created = createdAt.get(name);
    if (answeredAt === null || created === undefined) return { delaySeconds: null, queries };
    const delaySeconds = answeredAt - created;
    // It cannot have resolved before it existed.
    const resolutionSeconds = Math.min(delaySeconds, answeredAt - (lastWrongSentAt ?? created));
    return { delaySeconds, resolutionSeconds, queries };
  });
  const own = new Set(observed.map(({ name }) => name));
  return evidenceOf(services, changes.filter(({ name }) => !own.has(name)).length / seconds);
}

/** At a rate of changes; exported for its test. */
export async function measureLoad(asking: Asking, churnPerSecond: number): Promise<PropagationEvidence> {
  const { api, settings, onPhase } = asking;
  const { clock } = asking.world;
  await api.churn(churnPerSecond);
  for (let index = 0; index < WARMUP_SERVICES; index += 1) await observe(asking, index);
  const { resourceVersion } = await api.status();
  const begin = clock.monotonicSeconds();
  const observed: Named[] = [];
  let changes: readonly ServiceChange[] = [];
  const readChanges = async () => {
    const last = changes.at(-1)?.resourceVersion ?? resourceVersion;
    changes = changes.concat(await api.changesAfter(last));
  };
  let readAt = begin;
  for (let index = 0; index < settings.services; index += 1) {
    if (index % 10 === 0) onPhase(`${index} of ${settings.services} Services`);
    observed.push(await observe(asking, index));
    if (clock.monotonicSeconds() - readAt < READ_SECONDS) continue;
    await readChanges();
    readAt = clock.monotonicSeconds();
  }
  const seconds = clock.monotonicSeconds() - begin;
  await api.churn(0);
  await readChanges();
  return figuresOf(observed, changes, seconds);
}

/** Starts CoreDNS and measures it at a rate of changes. */
async function measureStart(
  context: CorednsMachine,
  settings: PropagationSettings,
  { key, case: { subject, point } }: PlannedTrial,
  on: TrialEvents,
): Promise<PropagationEvidence> {
  const { world } = context;
  const { objects, churn } = loadOf(subject);
  const directory = `${context.rawDirectory}/${fileNameOf(key)}`;
  await world.fs.mkdir(directory, { recursive: true });
  on.phase('starting');
  return withCoredns(
    { ...context, onFiles: on.files },
    {
      ...{ key, directory, server: String(point.server) },
      // The plan has no others.
      configuration: point.configuration as ConfigurationName,
      cluster: defineCluster({ ...specForObjects(objects), headless: HEADLESS }).spec,
    },
    async ({ running, instance }, signal) => {
      await untilReady({ ...context, key, running });
      const client = createDnsClient({ address: instance.address, port: instance.port }, 'udp', world.clock);
      try {
        const asking = { world, settings, signal, client, api: running.api, onPhase: on.phase };
        return await measureLoad(asking, churn);
      } finally {
        client.close();
      }
    },
  );
}

export async function openHere(
  request: TargetRequest<PropagationSettings>,
): Promise<Opened<Measuring<PropagationEvidence>>> {
  const { settings } = request;
  const opened = await openCoredns(request, 'capacity propagation', settings);
  const measure = (planned: PlannedTrial, on: TrialEvents) =>
    measureStart(opened.context, settings, planned, on);
  // No queries but its own are sent.
  return { ...opened, conditions: {}, context: { measure } };
}
