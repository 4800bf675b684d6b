/** What must hold before the first trial of servers that run already: something answers, and what is observed exists. */
import { createDnsClient, type DnsQuery } from '../dns/client.ts';
import { BenchError } from '../errors.ts';
import type { PlannedCase } from '../plan/plan.ts';
import type { Transport } from '../results/record.ts';
import { placeText } from '../servers/at/place.ts';
import type { AddressServer, Server } from '../servers/server.ts';
import { observedGroup } from '../targets/local/running-server.ts';
import type { World } from '../world.ts';
import { askPatiently } from './answer-check.ts';

/** A server at the other end of the world answers in a third of this. */
const TIMEOUT_SECONDS = 1;

interface Question {
  readonly server: Server;
  readonly place: AddressServer;
  readonly transport: Transport;
  /** Any answer will do: whether it is right is checked before each trial. */
  readonly query: DnsQuery;
}

async function demandAnswer(
  world: World,
  { server, place, transport, query }: Question,
  signal: AbortSignal,
): Promise<void> {
  const client = createDnsClient(
    { address: place.address ?? place.host, port: place.port },
    transport,
    world.clock,
  );
  const options = { timeoutSeconds: TIMEOUT_SECONDS, signal };
  const answer = await askPatiently(client, query, options).finally(() => client.close());
  if (typeof answer !== 'string') return;
  throw new BenchError(
    'E_NO_ANSWER',
    `nothing answers over ${transport} at ${placeText(place)} (${server.name})`,
    {
      evidence: [answer],
      fix:
        transport === 'udp'
          ? `Start the server, or correct the address. \`ss -lntup 'sport = :${place.port}'\` shows what listens here.`
          : `Start the server with ${transport}, or measure it without: --exclude 'server=${server.name},transport=${transport}'.`,
    },
  );
}

/** @throws BenchError `E_NO_ANSWER` or `E_CONFIG` for the first server that cannot be measured. */
export async function demandRunning(
  world: World,
  servers: readonly Server[],
  cases: readonly Pick<PlannedCase, 'server' | 'transport'>[],
  query: DnsQuery,
  signal: AbortSignal,
): Promise<void> {
  for (const server of servers) {
    const place = server.existing;
    if (place?.kind !== 'address') continue;
    await observedGroup(world, server.name, place);
    const own = cases.filter((item) => item.server === server.name);
    for (const transport of new Set(own.map((item) => item.transport))) {
      await demandAnswer(world, { server, place, transport, query }, signal);
    }
  }
}
