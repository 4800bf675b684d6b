/** How each query is encoded: header flags, class and EDNS. */
import { z } from 'zod';

export const messageOptionsSchema = z.strictObject({
  /** Recursion desired. */
  recursionDesired: z.boolean().default(true),
  /** CD (RFC 4035): asks the resolver not to validate. */
  checkingDisabled: z.boolean().default(false),
  /** AD in the query (RFC 6840 §5.7): asks the resolver to report whether it validated. */
  authenticData: z.boolean().default(false),
  class: z.enum(['IN', 'CH', 'HS', 'ANY']).default('IN'),
  /** UDP payload size in EDNS, 512 to 65535; null: no EDNS, unless another option needs it. */
  ednsSize: z.int().min(512).max(65_535).nullable().default(null),
  /** DNSSEC OK. */
  dnssec: z.boolean().default(false),
  /** Name server identifier (RFC 5001). */
  nsid: z.boolean().default(false),
  /** Client subnet (RFC 7871) as `address/prefix`; null: none. */
  clientSubnet: z.string().nullable().default(null),
  /**
   * DNS cookie (RFC 7873): `random` or 16 hexadecimal digits: a client cookie, to which each socket adds the server
   * cookie it received; 32 to 80 digits: client and server cookie, sent unchanged; null: none.
   */
  cookie: z.string().nullable().default(null),
  /** Further EDNS options as `code:hexdigits`. */
  options: z.array(z.string()).readonly().default([]),
});

export type MessageOptions = z.output<typeof messageOptionsSchema>;
export type MessageInput = z.input<typeof messageOptionsSchema>;
