/** What a server says to a message by way of the framework's chain: reader, store's handler, default, writer. */
import { IGNORE, QueryReader } from '@dinodns-bench/wire';
import { SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { DNSRequest, DNSResponse, NextFunction } from 'dinodns/types/server.js';
import { Request } from '../../src/framework/request.ts';
import { DROP, type Transport } from '../../src/table/responder.ts';
import { readQuery } from '../../src/wire/query.ts';
import { encodeResponse } from '../../src/wire/response.ts';

type StoreHandler = (request: DNSRequest, response: DNSResponse, next: NextFunction) => void;

const CONNECTION = { remoteAddress: '127.0.0.1', remotePort: 1, type: SupportedNetworkType.UDP };

/** `otherwise` answers what the store leaves to the next handler. */
export function chainReply(
  handler: StoreHandler,
  otherwise: (response: DNSResponse) => void,
  message: Buffer,
  transport: Transport,
): Buffer | typeof DROP {
  const reader = new QueryReader();
  if (reader.read(message, 0, message.length) === IGNORE) return DROP;
  const query = readQuery(message, reader);
  if (query instanceof Uint8Array) return query;
  const request = new Request(query, CONNECTION);
  const response = request.toAnswer();
  handler(request, response, () => undefined);
  if (!response.finished) otherwise(response);
  return encodeResponse(query, response.packet.raw, transport === 'udp' ? query.udpLimit : 65_535);
}
