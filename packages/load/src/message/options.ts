/** How each query is encoded: header flags, class and EDNS. */
import { z } from 'zod';

export const messageOptionsSchema = z.strictObject({
  /** Recursion desired. */
  recursionDesired: z.boolean().default(true),
  /** CD (RFC 4035): the resolver shall not validate. */
  checkingDisabled: z.boolean().default(false),
  /** AD in the query (RFC 6840 §5.7): tell me whether it validated. */
  authenticData: z.boolean().default(false),
  class: z.enum(['IN', 'CH', 'HS', 'ANY']).default('IN'),
  /** UDP payload size announced by EDNS, 512 to 65535; null: no EDNS, unless another EDNS option asks for it. */
  ednsSize: z.int().min(512).max(65_535).nullable().default(null),
  /** DNSSEC OK. */
  dnssec: z.boolean().default(false),
  /** Name server identifier (RFC 5001). */
  nsid: z.boolean().default(false),
  /** Client subnet (RFC 7871) as `address/prefix`; null: none. */
  clientSubnet: z.string().nullable().default(null),
  /**
   * DNS cookie (RFC 7873): `random`, or 16 hexadecimal digits, for a client's cookie, to which each socket then adds
   * what the server gave it; 32 to 80 digits for client's and server's, sent as they are; null: none.
   */
  cookie: z.string().nullable().default(null),
  /** Further EDNS options as `code:hexdigits`. */
  options: z.array(z.string()).readonly().default([]),
});

export type MessageOptions = z.output<typeof messageOptionsSchema>;
export type MessageInput = z.input<typeof messageOptionsSchema>;
