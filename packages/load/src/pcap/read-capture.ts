/** The DNS queries and the TCP segments of a capture file, one after the other, in constant memory. */
import { open } from 'node:fs/promises';
import {
  className,
  findNameEnd,
  HEADER_BYTES,
  nameText,
  QueryReader,
  typeName,
  u16,
} from '@dinodns-bench/wire';
import { type LoadError, loadError, unreadable } from '../errors.ts';
import { CaptureError, createCaptureReader, type OnPacket } from './file-format.ts';
import { addressIn, type FoundSegment, findSegment, PROTOCOL, readPacket, type Skipped } from './packet.ts';

const PIECE_BYTES = 1 << 20;

/**
 * Reads a file piece by piece: `onPacket` gets each frame, and adds what it finds in it. `isComplete`: the file has ended,
 * between two packets.
 * @throws LoadError `E_UNREADABLE` or `E_PCAP`.
 */
async function* readPieces<Item>(
  path: string,
  onPacket: (add: (item: Item) => void) => OnPacket,
): AsyncGenerator<{ readonly items: readonly Item[]; readonly isComplete: boolean }, void, void> {
  let items: Item[] = [];
  const reader = createCaptureReader(onPacket((item) => items.push(item)));
  try {
    const file = await open(path);
    try {
      const buffer = new Uint8Array(PIECE_BYTES);
      for (let bytesRead = 1; bytesRead > 0; ) {
        ({ bytesRead } = await file.read(buffer, 0, PIECE_BYTES));
        if (bytesRead > 0) reader.push(buffer.subarray(0, bytesRead));
        yield { items, isComplete: bytesRead === 0 && reader.end() };
        items = [];
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw captureError(path, error);
  }
}

function captureError(path: string, error: unknown): LoadError {
  if (!(error instanceof CaptureError)) return unreadable(path, error);
  return loadError(
    'E_PCAP',
    `${path} is not a capture that can be replayed: ${error.message}`,
    'give a file written by tcpdump -w, dumpcap or Wireshark',
    error,
  );
}

/** A capture without a query is one clear error: it says what else is in it. */
function noQueries(path: string, port: number, skipped: ReadonlyMap<Skipped, number>): LoadError {
  const seen = [...skipped].map(([reason, count]) => `${count} × ${reason}`).join(', ');
  return loadError(
    'E_PCAP',
    `${path} contains no DNS query to port ${port}${seen === '' ? '' : ` (packets: ${seen})`}`,
    'give the port that the captured server listened on, or capture with: tcpdump -w FILE port 53',
  );
}

/** A query as it was captured. */
export interface CapturedQuery {
  /** Since 1970, as precise as the capture and a double: about a quarter of a microsecond. */
  readonly seconds: number;
  readonly client: { readonly address: string; readonly port: number };
  readonly transport: 'udp' | 'tcp';
  /** The whole message, with its id. */
  readonly message: Uint8Array;
  /** As in the message, without the trailing dot; `.` is the root. */
  readonly name: string;
  /** A mnemonic, or `TYPE65280`. */
  readonly type: string;
  /** A mnemonic, or `CLASS2`. */
  readonly class: string;
  /** The second word of the header: RD is 0x0100 (`FLAG` of the package wire). */
  readonly flags: number;
  /** Null without a well-formed OPT record. */
  readonly edns: { readonly udpBytes: number; readonly dnssecOk: boolean } | null;
}

export interface ReadCaptureOptions {
  /** Queries to this port; default 53. */
  readonly port?: number;
  /** A capture without any query is no error. Default: it is. */
  readonly mayBeEmpty?: boolean;
}

/** A query where it lies in its frame. */
interface FoundQuery {
  readonly seconds: number;
  readonly frame: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly segment: FoundSegment;
}

/** A capture being read: iterate over it once. */
export class Capture implements AsyncIterable<CapturedQuery> {
  readonly path: string;
  readonly port: number;
  /** Packets that gave no query, by reason, as far as the file has been read. */
  readonly skipped: ReadonlyMap<Skipped, number>;
  /** Queries as far as the file has been read. */
  queries = 0;
  /** Whether the file was read to its end and ended between two packets; if not, the capture was killed. */
  isComplete = false;
  readonly #skipped = new Map<Skipped, number>();
  readonly #reader = new QueryReader();
  readonly #mayBeEmpty: boolean;

  constructor(path: string, { port = 53, mayBeEmpty = false }: ReadCaptureOptions = {}) {
    this.#mayBeEmpty = mayBeEmpty;
    this.path = path;
    this.port = port;
    this.skipped = this.#skipped;
  }

  /** Throws a `LoadError`: `E_UNREADABLE`; `E_PCAP` for another or a damaged file, or for one without a query. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CapturedQuery, void, void> {
    for await (const piece of this.pieces()) for (const found of piece) yield this.#query(found);
  }

  /** The queries of each piece of the file, for callers that need only their bytes. Throws as the iterator does. */
  async *pieces(): AsyncGenerator<readonly FoundQuery[], void, void> {
    const onPacket =
      (add: (query: FoundQuery) => void) => (linkType: number, seconds: number, frame: Uint8Array) => {
        const reason = readPacket(linkType, frame, this.port, (_bytes, start, end, segment) =>
          add({ seconds, frame, start, end, segment }),
        );
        if (reason !== null) this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
      };
    for await (const { items, isComplete } of readPieces(this.path, onPacket)) {
      this.isComplete = isComplete;
      this.queries += items.length;
      yield items;
    }
    if (this.queries === 0 && !this.#mayBeEmpty) throw noQueries(this.path, this.port, this.#skipped);
  }

  #query({ seconds, frame, start, end, segment }: FoundQuery): CapturedQuery {
    const message = frame.slice(start, end);
    const query = this.#reader;
    query.read(message, 0, message.length);
    // `read` tells nothing of a query with another OPCODE, but its question is well formed, too.
    const after = findNameEnd(message, HEADER_BYTES);
    return {
      seconds,
      client: { address: addressIn(frame, segment, 'source'), port: u16(frame, segment.at) },
      transport: segment.protocol === PROTOCOL.udp ? 'udp' : 'tcp',
      message,
      name: nameText(message, HEADER_BYTES),
      type: typeName(u16(message, after)),
      class: className(u16(message, after + 2)),
      flags: u16(message, 2),
      edns: query.hasEdns ? { udpBytes: query.udpBytes, dnssecOk: query.dnssecOk } : null,
    };
  }
}

/**
 * The queries of a pcap or pcapng file in the order of its packets; memory does not grow with the file.
 *
 * @example
 * const capture = readCapture('dns.pcap');
 * for await (const { seconds, client, name, type } of capture) console.log(seconds, client.address, name, type);
 * console.log(capture.queries, Object.fromEntries(capture.skipped));
 */
export function readCapture(path: string, options: ReadCaptureOptions = {}): Capture {
  return new Capture(path, options);
}

/** Bits of `TcpSegment.flags` (RFC 9293 §3.1, RFC 3168 §6.1). */
export const TCP_FLAG = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ece: 64, cwr: 128 } as const;

export interface TcpSegment {
  /** Since 1970. */
  readonly seconds: number;
  readonly ipVersion: 4 | 6;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly sequence: number;
  /** See `TCP_FLAG`. */
  readonly flags: number;
}

/** Ports, sequence and acknowledgement numbers, and flags. */
const HEADER_BYTES_READ = 14;

function segmentIn(linkType: number, seconds: number, frame: Uint8Array): TcpSegment | null {
  const found = findSegment(linkType, frame);
  if (typeof found === 'string' || found.protocol !== PROTOCOL.tcp) return null;
  const { at, ipVersion } = found;
  if (at + HEADER_BYTES_READ > frame.length) return null;
  return {
    seconds,
    ipVersion: ipVersion === 4 ? 4 : 6,
    source: addressIn(frame, found, 'source'),
    sourcePort: u16(frame, at),
    destination: addressIn(frame, found, 'destination'),
    destinationPort: u16(frame, at + 2),
    sequence: u16(frame, at + 4) * 0x10000 + u16(frame, at + 6),
    flags: frame[at + 13] ?? 0,
  };
}

/**
 * The TCP segments of a pcap or pcapng file in the order of its packets. A file that ends within a packet is read up to
 * there. Throws a `LoadError`: `E_UNREADABLE`, or `E_PCAP` for another or a damaged file.
 */
export async function* readTcpSegments(path: string): AsyncGenerator<TcpSegment, void, void> {
  const onPacket =
    (add: (segment: TcpSegment) => void) => (linkType: number, seconds: number, frame: Uint8Array) => {
      const segment = segmentIn(linkType, seconds, frame);
      if (segment !== null) add(segment);
    };
  for await (const { items } of readPieces(path, onPacket)) yield* items;
}
