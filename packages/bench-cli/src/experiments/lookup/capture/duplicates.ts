/** Repeated SYN and SYN-ACK packets of a capture: by our rule, and by tiger-bench's. */
import { TCP_FLAG, type TcpSegment } from '@dinodns-bench/load';
import type { Packets } from '../evidence.ts';

export type Handshakes = Packets['handshakes'];

const { syn: SYN, ack: ACK, ece: ECE, cwr: CWR } = TCP_FLAG;

const flowOf = ({ source, sourcePort, destination, destinationPort }: TcpSegment) =>
  `${source}.${sourcePort}>${destination}.${destinationPort}`;

/** tiger-bench's counters: the last sequence number of each flow, of SYN and of SYN-ACK packets. */
function tigerCounter() {
  const last = { syn: new Map<string, number>(), synAck: new Map<string, number>() };
  const counts = { syn: 0, synAck: 0 };
  return {
    add(segment: TcpSegment): void {
      if (segment.ipVersion !== 4) return;
      const kind = segment.flags === SYN ? 'syn' : segment.flags === (SYN | ACK) ? 'synAck' : null;
      if (kind === null) return;
      const flow = flowOf(segment);
      if (last[kind].get(flow) === segment.sequence) counts[kind] += 1;
      last[kind].set(flow, segment.sequence);
    },
    counts: () => ({ duplicateSyn: counts.syn, duplicateSynAck: counts.synAck }),
  };
}

/** How often each packet was seen, by addresses, ports and sequence number. */
function sightings() {
  const seen = new Map<string, number>();
  return {
    add(segment: TcpSegment): void {
      const key = `${flowOf(segment)}#${segment.sequence}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    },
    different: () => seen.size,
    repeated: () => [...seen.values()].filter((times) => times > 1).length,
    duplicates: () => [...seen.values()].reduce((sum, times) => sum + times - 1, 0),
  };
}

/**
 * Counts the packets that begin connections to `port`. The capture must see each packet once.
 * @param addresses Of the site, where other programs connect to the same port; null where nothing else does.
 */
export async function countHandshakes(
  segments: AsyncIterable<TcpSegment> | Iterable<TcpSegment>,
  port: number,
  addresses: ReadonlySet<string> | null = null,
): Promise<Handshakes> {
  const [syns, synAcks, tiger] = [sightings(), sightings(), tigerCounter()];
  const syn = { ipv4: 0, ipv6: 0, ecn: 0 };
  const synAck = { ipv4: 0, ipv6: 0 };
  for await (const segment of segments) {
    const { flags, ipVersion } = segment;
    if ((flags & SYN) === 0) continue;
    const version = ipVersion === 4 ? 'ipv4' : 'ipv6';
    const isAnswer = (flags & ACK) !== 0;
    if ((isAnswer ? segment.sourcePort : segment.destinationPort) !== port) continue;
    if (addresses?.has(isAnswer ? segment.source : segment.destination) === false) continue;
    tiger.add(segment);
    (isAnswer ? synAcks : syns).add(segment);
    (isAnswer ? synAck : syn)[version] += 1;
    if (!isAnswer && (flags & (ECE | CWR)) === (ECE | CWR)) syn.ecn += 1;
  }
  return {
    connections: syns.different(),
    connectionsRepeated: syns.repeated(),
    syn,
    synAck,
    duplicateSyn: syns.duplicates(),
    duplicateSynAck: synAcks.duplicates(),
    tigerRule: tiger.counts(),
  };
}
