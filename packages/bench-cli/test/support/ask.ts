/** One query over a socket of its own. */
import { type AskOptions, createDnsClient, type DecodedAnswer, type DnsQuery } from '../../src/dns/client.ts';
import type { Endpoint } from '../../src/dns/endpoint.ts';
import { realClock } from '../../src/world.ts';

function askOver(transport: 'udp' | 'tcp') {
  return async (endpoint: Endpoint, query: DnsQuery, options: AskOptions = {}): Promise<DecodedAnswer> => {
    const client = createDnsClient(endpoint, transport, realClock);
    try {
      return await client.ask(query, options);
    } finally {
      client.close();
    }
  };
}

export const askUdp = askOver('udp');
export const askTcp = askOver('tcp');
