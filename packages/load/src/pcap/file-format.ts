/**
 * The two formats of capture files, pcap and pcapng (draft-ietf-opsawg-pcap and -pcapng), read piece by piece:
 * a capture may be larger than memory.
 */

/** One captured frame; `frame` is valid until the call returns. */
export type OnPacket = (linkType: number, seconds: number, frame: Uint8Array) => void;

/** A file is not a capture, or is damaged. */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';
}

/** No frame is longer: libpcap's MAXIMUM_SNAPLEN, with room for pcapng's options. */
const MAX_RECORD_BYTES = 0x40000 + 0x10000;

/** Reads one record if it is complete and returns its length; 0 if more bytes are needed. */
type ReadRecord = (bytes: Uint8Array, view: DataView) => number;

const MAGIC_MICROSECONDS = 0xa1b2c3d4;
const MAGIC_NANOSECONDS = 0xa1b23c4d;
const SECTION_HEADER = 0x0a0d0d0a;
const BYTE_ORDER_MAGIC = 0x1a2b3c4d;

function tooLong(length: number): CaptureError {
  return new CaptureError(`a record of ${length} bytes is longer than any frame`);
}

/** The reader of a pcap file, if `view` begins with its header. */
function pcap(view: DataView, onPacket: OnPacket): ReadRecord | undefined {
  for (const little of [true, false]) {
    const magic = view.getUint32(0, little);
    if (magic !== MAGIC_MICROSECONDS && magic !== MAGIC_NANOSECONDS) continue;
    const unit = magic === MAGIC_NANOSECONDS ? 1e-9 : 1e-6;
    // The upper bits hold the length of the frame check sequence.
    const linkType = view.getUint32(20, little) & 0xffff;
    let headerRead = false;
    return (bytes, record) => {
      if (!headerRead) {
        headerRead = true;
        return 24;
      }
      if (bytes.length < 16) return 0;
      const length = record.getUint32(8, little);
      if (length > MAX_RECORD_BYTES) throw tooLong(length);
      if (bytes.length < 16 + length) return 0;
      const seconds = record.getUint32(0, little) + record.getUint32(4, little) * unit;
      onPacket(linkType, seconds, bytes.subarray(16, 16 + length));
      return 16 + length;
    };
  }
  return undefined;
}

interface Interface {
  readonly linkType: number;
  /** Seconds of one tick. */
  readonly tick: number;
  readonly offsetSeconds: number;
}

const OPTION_RESOLUTION = 9;
const OPTION_OFFSET = 14;

/** Interface description block: link type, resolution of time stamps (default microseconds), their offset. */
function readInterface(view: DataView, end: number, little: boolean): Interface {
  let tick = 1e-6;
  let offsetSeconds = 0;
  for (let at = 16; at + 4 <= end; ) {
    const code = view.getUint16(at, little);
    const length = view.getUint16(at + 2, little);
    if (code === 0 || at + 4 + length > end) break;
    if (code === OPTION_RESOLUTION && length >= 1) {
      const value = view.getUint8(at + 4);
      tick = value & 0x80 ? 2 ** -(value & 0x7f) : 10 ** -value;
    }
    if (code === OPTION_OFFSET && length >= 8) offsetSeconds = Number(view.getBigInt64(at + 4, little));
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return { linkType: view.getUint16(8, little), tick, offsetSeconds };
}

const BLOCK = { interface: 1, packet: 2, simple: 3, enhanced: 6 } as const;

/** The reader of a pcapng file. Blocks without packets are skipped. */
function pcapng(onPacket: OnPacket): ReadRecord {
  let little = true;
  let interfaces: Interface[] = [];

  const packet = (bytes: Uint8Array, view: DataView, wide: boolean, end: number) => {
    if (end < 28) throw new CaptureError('a packet block is too short');
    const from = interfaces[wide ? view.getUint32(8, little) : view.getUint16(8, little)];
    if (from === undefined) throw new CaptureError('a packet refers to an interface without a description');
    const length = view.getUint32(20, little);
    if (28 + length > end) throw new CaptureError('a packet is longer than its block');
    const ticks = view.getUint32(12, little) * 2 ** 32 + view.getUint32(16, little);
    onPacket(from.linkType, from.offsetSeconds + ticks * from.tick, bytes.subarray(28, 28 + length));
  };

  return (bytes, view) => {
    if (bytes.length < 12) return 0;
    if (view.getUint32(0, true) === SECTION_HEADER) {
      little = view.getUint32(8, true) === BYTE_ORDER_MAGIC;
      if (!little && view.getUint32(8, false) !== BYTE_ORDER_MAGIC)
        throw new CaptureError('a section has no byte order');
      interfaces = [];
    }
    const length = view.getUint32(4, little);
    if (length < 12 || length % 4 !== 0) throw new CaptureError(`a block claims to be ${length} bytes long`);
    if (length > MAX_RECORD_BYTES) throw tooLong(length);
    if (bytes.length < length) return 0;
    const end = length - 4;
    switch (view.getUint32(0, little)) {
      case BLOCK.interface:
        if (end < 16) throw new CaptureError('an interface block is too short');
        interfaces.push(readInterface(view, end, little));
        break;
      case BLOCK.enhanced:
        packet(bytes, view, true, end);
        break;
      case BLOCK.packet:
        packet(bytes, view, false, end);
        break;
      case BLOCK.simple:
        throw new CaptureError('its packets have no timestamps (simple packet blocks)');
    }
    return length;
  };
}

/** A reader for either format, told from the file's first bytes. */
export function createCaptureReader(onPacket: OnPacket) {
  let rest: Uint8Array = new Uint8Array(0);
  let read: ReadRecord | undefined;

  const begin = (view: DataView): ReadRecord => {
    if (view.getUint32(0, true) === SECTION_HEADER) return pcapng(onPacket);
    const reader = pcap(view, onPacket);
    if (reader === undefined) throw new CaptureError('it is neither a pcap nor a pcapng file');
    return reader;
  };

  return {
    /** Takes the next piece of the file. @throws CaptureError where it is damaged. */
    push(piece: Uint8Array): void {
      const bytes = new Uint8Array(rest.length + piece.length);
      bytes.set(rest);
      bytes.set(piece, rest.length);
      let at = 0;
      while (bytes.length - at >= (read === undefined ? 24 : 1)) {
        const left = bytes.subarray(at);
        const view = new DataView(bytes.buffer, at);
        read ??= begin(view);
        const length = read(left, view);
        if (length === 0) break;
        at += length;
      }
      rest = bytes.slice(at);
    },
    /** Whether the file ended between two records; false if it is cut off (the capture was killed). */
    end(): boolean {
      if (read === undefined) throw new CaptureError('it is neither a pcap nor a pcapng file');
      return rest.length === 0;
    },
  };
}
