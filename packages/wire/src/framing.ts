/** DNS messages in a stream, each after two bytes of length (RFC 1035 §4.2.2), and in HTTP (RFC 8484). */
import { MAX_MESSAGE_BYTES } from './header.ts';

/** Where servers of DNS over HTTPS answer. */
export const DOH_PATH = '/dns-query';
export const DOH_MEDIA_TYPE = 'application/dns-message';

/** The longest message with its length bytes. */
const MAX_FRAME = 2 + MAX_MESSAGE_BYTES;

/** The message with its length before it. Throws a `RangeError` if it is longer than 65,535 bytes. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(2 + message.length);
  frame.writeUInt16BE(message.length);
  frame.set(message, 2);
  return frame;
}

/** `onMessage` gets messages in place: valid until it returns. */
export function createFrameReader(onMessage: (bytes: Uint8Array, offset: number, length: number) => void) {
  /** The start of an incomplete message; allocated when first needed, since most reads end with a whole message. */
  let carry: Uint8Array | undefined;
  let carried = 0;

  /** Completes the carried message; returns how many of the new bytes it used. */
  const complete = (bytes: Uint8Array, length: number): number => {
    if (carry === undefined || carried === 0) return 0;
    let taken = 0;
    while (carried < 2 && taken < length) carry[carried++] = bytes[taken++] ?? 0;
    if (carried < 2) return taken;
    const whole = 2 + (((carry[0] ?? 0) << 8) | (carry[1] ?? 0));
    const part = Math.min(whole - carried, length - taken);
    carry.set(bytes.subarray(taken, taken + part), carried);
    carried += part;
    taken += part;
    if (carried === whole) {
      carried = 0;
      onMessage(carry, 2, whole - 2);
    }
    return taken;
  };

  return {
    /** Takes `bytes[0, length)` of the stream and passes on each message that they complete. */
    push(bytes: Uint8Array, length: number): void {
      let at = complete(bytes, length);
      while (length - at >= 2) {
        const message = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
        if (at + 2 + message > length) break;
        onMessage(bytes, at + 2, message);
        at += 2 + message;
      }
      if (at < length) {
        carry ??= new Uint8Array(MAX_FRAME);
        carry.set(bytes.subarray(at, length), carried);
        carried += length - at;
      }
    },
  };
}
