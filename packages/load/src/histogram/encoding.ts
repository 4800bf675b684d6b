/**
 * HdrHistogram's own encoding (version 2, deflated, base64), which its libraries in all languages read:
 * https://hdrhistogram.github.io/HdrHistogram/. It holds the counts; the exact moments travel beside it.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { Histogram, type HistogramData, highestAt, lowestAt, MAX_VALUE } from './histogram.ts';

/** V2 cookies of HdrHistogram's AbstractHistogram, with 0x10 for "counts are LEB128 with up to 9 bytes". */
const V2_COOKIE = 0x1c849303 | 0x10;
const V2_COMPRESSED_COOKIE = 0x1c849304 | 0x10;
const HEADER_BYTES = 40;
const SIGNIFICANT_DIGITS = 3;

/** The histogram as base64 text that begins with "HISTFAAA". */
export function encodeHistogram(histogram: Histogram): string {
  const payload: number[] = [];
  let next = 0;
  for (const [index, count] of histogram.entries()) {
    // A negative number −n stands for n zeros.
    if (index > next) writeZigZag(payload, next - index);
    writeZigZag(payload, count);
    next = index + 1;
  }
  const body = Buffer.alloc(HEADER_BYTES + payload.length);
  body.writeUInt32BE(V2_COOKIE, 0);
  body.writeUInt32BE(payload.length, 4);
  body.writeUInt32BE(0, 8);
  body.writeUInt32BE(SIGNIFICANT_DIGITS, 12);
  body.writeBigInt64BE(1n, 16);
  body.writeBigInt64BE(BigInt(MAX_VALUE), 24);
  body.writeDoubleBE(1, 32);
  body.set(payload, HEADER_BYTES);
  const deflated = deflateSync(body);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(V2_COMPRESSED_COOKIE, 0);
  head.writeUInt32BE(deflated.length, 4);
  return Buffer.concat([head, deflated]).toString('base64');
}

/**
 * The counts of an encoded histogram; minimum, maximum and moments are accurate to three digits.
 * @throws RangeError on anything but a text of this package's layout (unit 1, three digits).
 */
export function decodeHistogram(text: string): HistogramData {
  const packed = Buffer.from(text, 'base64');
  if (packed.length < 8 || packed.readUInt32BE(0) !== V2_COMPRESSED_COOKIE) throw notEncoded();
  const body = inflateSync(packed.subarray(8, 8 + packed.readUInt32BE(4)));
  if (body.length < HEADER_BYTES || body.readUInt32BE(0) !== V2_COOKIE) throw notEncoded();
  if (body.readUInt32BE(12) !== SIGNIFICANT_DIGITS || body.readBigInt64BE(16) !== 1n) throw notEncoded();
  const end = HEADER_BYTES + body.readUInt32BE(4);
  const counts: number[] = [];
  let [total, sum, squares, min, max, index] = [0, 0, 0, 0, 0, 0];
  for (let at = HEADER_BYTES; at < end; ) {
    const [value, next] = readZigZag(body, at);
    at = next;
    if (value < 0) {
      index -= value;
      continue;
    }
    if (value > 0) {
      const middle = (lowestAt(index) + highestAt(index)) / 2;
      if (total === 0) min = lowestAt(index);
      max = highestAt(index);
      counts.push(index, value);
      total += value;
      sum += value * middle;
      squares += value * middle * middle;
    }
    index += 1;
  }
  return { counts: Float64Array.from(counts), total, min, max, sum, squares };
}

/** Merges encoded histograms of several runs. */
export function mergeEncoded(texts: readonly string[]): Histogram {
  return Histogram.of(...texts.map(decodeHistogram));
}

function notEncoded(): RangeError {
  return new RangeError(
    'not a histogram of dnscannon: expected HdrHistogram V2, deflated, three digits, unit 1',
  );
}

/** ZigZag and LEB128 with at most nine bytes; the ninth holds eight bits. */
function writeZigZag(out: number[], value: number): void {
  let rest = value < 0 ? BigInt(-value) * 2n - 1n : BigInt(value) * 2n;
  for (let index = 0; index < 8; index++) {
    if (rest < 0x80n) {
      out.push(Number(rest));
      return;
    }
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest & 0xffn));
}

function readZigZag(bytes: Buffer, offset: number): [value: number, next: number] {
  let value = 0n;
  let at = offset;
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at];
    if (byte === undefined) throw notEncoded();
    at += 1;
    value |= BigInt(index === 8 ? byte : byte & 0x7f) << BigInt(7 * index);
    if (index === 8 || byte < 0x80) break;
  }
  return [Number(value & 1n ? -(value >> 1n) - 1n : value >> 1n), at];
}
