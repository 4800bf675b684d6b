/** DNS messages in a stream: two octets of length before each (RFC 1035 §4.2.2). */

/** The longest message and its length octets. */
const MAX_FRAME = 65_535 + 2;

export interface FrameReader {
  /** Takes `bytes[0, length)` of the stream and hands on each message that is complete with it. */
  push(bytes: Uint8Array, length: number): void;
}

/** `onMessage` gets messages in place: valid until it returns. */
export function createFrameReader(
  onMessage: (bytes: Uint8Array, offset: number, length: number) => void,
): FrameReader {
  /** The beginning of a message whose end has not come; made when first needed, most reads end with a message. */
  let carry: Uint8Array | undefined;
  let carried = 0;

  /** Completes the carried message; returns how many of the new bytes it took. */
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
    push(bytes, length) {
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
