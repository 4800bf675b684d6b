/** The message header (RFC 1035 §4.1.1) and limits on message size. */

/** The first question begins after it. */
export const HEADER_BYTES = 12;

/** Bits of the second word of the header. */
export const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  /** RFC 4035 §3.2.3. */
  authenticData: 0x0020,
  /** RFC 4035 §3.2.2. */
  checkingDisabled: 0x0010,
} as const;

/** The bits of the OPCODE in the same word, and those of the RCODE. */
export const OPCODE_MASK = 0x7800;
export const RCODE_MASK = 0x000f;

/** The largest UDP message without EDNS (RFC 1035 §4.2.1). */
export const PLAIN_UDP_BYTES = 512;
/** The largest message: over TCP its length field has 16 bits (RFC 1035 §4.2.2). */
export const MAX_MESSAGE_BYTES = 65_535;

export function u8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** The big-endian word at `at`; bytes past the end count as 0. */
export function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
