/**
 * The framework's request and response with their faults fixed: `refused()` sets REFUSED (0.0.13 sets FORMERR),
 * and marking a response as sent does not copy and freeze it section by section.
 */
import { RCODE } from '@dinodns-bench/wire';
import type { Connection } from 'dinodns/common/network/index.js';
import { DNSRequest, DNSResponse, type MessageMetadata, PacketWrapper } from 'dinodns/types/server.js';
import type { Packet } from 'dns-packet';
import type { Query } from '../wire/query.ts';

class ResponsePacket extends PacketWrapper {
  /** Later changes through the setters throw, as in the framework, but the packet is not copied. */
  override freeze(): this {
    this.frozen = true;
    return this;
  }
}

class Response extends DNSResponse {
  constructor(packet: Packet, connection: Connection, metadata: MessageMetadata) {
    super(packet, connection, metadata);
    this.packet = new ResponsePacket(packet);
    this.errors.refused = () => {
      this.packet.flags = (this.packet.flags & ~0xf) | RCODE.REFUSED;
      this.resolve();
    };
  }
}

/** A request that keeps its original bytes. */
export class Request extends DNSRequest {
  readonly query: Query;

  constructor(query: Query, connection: Connection) {
    super(query.packet, connection);
    this.query = query;
  }

  override toAnswer(): DNSResponse {
    return new Response({ ...this.query.packet, type: 'response' }, this.connection, this.metadata);
  }
}
