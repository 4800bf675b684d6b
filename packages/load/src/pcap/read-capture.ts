/** The DNS queries of a capture file, one after the other, in constant memory. */
import {
  className,
  findNameEnd,
  HEADER_BYTES,
  nameText,
  QueryReader,
  typeName,
  u16,
} from '@dinodns-bench/wire';
import { noQueries, readPieces } from './capture-file.ts';
import { addressIn, type FoundSegment, PROTOCOL, readPacket, type Skipped } from './packet.ts';

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
