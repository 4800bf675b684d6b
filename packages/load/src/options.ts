/** All options of a run as one validated record: the library's argument, and what the flags become. */
import { DOH_PATH } from '@dinodns-bench/wire';
import { z } from 'zod';
import { workloadOptionsSchema } from './workload/options.ts';

/** One year: longer than any run, and far below where nanoseconds in a double lose precision (104 days: ±1 ns). */
const MAX_SECONDS = 366 * 86_400;
const MAX_RATE = 1e8;

const seconds = z.number().positive().max(MAX_SECONDS);
const rate = z.number().positive().max(MAX_RATE);
const addresses = z
  .array(z.union([z.ipv4(), z.ipv6()]))
  .readonly()
  .default([]);

/**
 * When queries are sent.
 * - `closed`: as soon as fewer than `outstanding` are unanswered; at most `maxRate` per second since the start.
 *   Latency counts from sending. A slow server slows the load down, as with real clients that wait.
 * - the others are open loops: queries are sent on schedule regardless of answers, and latency counts from
 *   the time a query was due.
 */
export const loadSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('closed'),
    /** Queries (or lookups of a simulated resolver) in flight over all workers. */
    outstanding: z.int().min(1).max(1_000_000).default(100),
    /** Queries per second at most, evenly spaced; null: no limit. After a stall more, until what was due in it is sent. */
    maxRate: rate.nullable().default(null),
  }),
  z.strictObject({ kind: z.literal('constant'), rate }),
  /** Independent arrivals: exponential gaps with this mean rate. */
  z.strictObject({ kind: z.literal('poisson'), rate }),
  /** Linear from one rate to the other over the run. */
  z.strictObject({ kind: z.literal('ramp'), from: z.number().min(0).max(MAX_RATE), to: rate }),
  /** One rate after the other, each for an equal part of the run. */
  z.strictObject({ kind: z.literal('steps'), rates: z.array(rate).min(1).max(1000).readonly() }),
  /** At the times that the workload itself gives (a capture's). */
  z.strictObject({ kind: z.literal('timed') }),
]);

/** How each query is encoded: header flags, class and EDNS. */
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

export const optionsSchema = z.strictObject({
  /** `host`, `host:port`, `[address]:port`; for DoH also an `https://` URL. A name is looked up once. */
  server: z.string().min(1),
  transport: z.enum(['udp', 'tcp', 'tls', 'https']).default('udp'),
  workload: workloadOptionsSchema,
  message: messageOptionsSchema.prefault({}),
  load: loadSchema.prefault({ kind: 'closed' }),
  /** How long queries are sent; unanswered ones then have `timeoutSeconds` more, lookups that for each candidate. */
  durationSeconds: seconds.default(10),
  /** Ends the run after this many queries; null: only the duration ends it. */
  maxQueries: z.int().min(1).nullable().default(null),
  /** How many times the whole workload is asked; null: until the duration is over. */
  passes: z.int().min(1).nullable().default(null),
  /** Threads, each with sockets of its own and a share of the load. */
  workers: z.int().min(1).max(256).default(1),
  /** Sockets or connections over all workers, each with a source port of its own; null: one for each worker. */
  clients: z.int().min(1).max(1_000_000).nullable().default(null),
  /** Local addresses to send from, used in turn by the sockets; empty: the kernel chooses. */
  sources: addresses,
  /** First local port; the sockets take consecutive ones. 0: the kernel chooses. */
  sourcePort: z.int().min(0).max(65_535).default(0),
  /** A query unanswered for this long is lost. */
  timeoutSeconds: z.number().min(0.001).max(3600).default(5),
  /** How often an unanswered query is sent again, each after `timeoutSeconds`. */
  retries: z.int().min(0).max(16).default(0),
  /** Retry over TCP if the answer was truncated (TC=1); latency then includes both. */
  tcpFallback: z.boolean().default(false),
  /** What is checked in every response; null: nothing but id and question. */
  expect: z
    .strictObject({
      /** Response codes that are accepted; empty: any. */
      codes: z.array(z.int().min(0).max(4095)).readonly().default([]),
      /** A NOERROR answer must have one of them in an A or AAAA record; empty: any. */
      addresses,
      /**
       * Answers older than this are stale. Their IPv4 address tells when they were made: 10, and 24 bits of the tenths of a second of
       * Unix time, as the upstream of `dinodns-cluster` gives it. Other addresses have no age. Null: ages are not read.
       */
      maxAgeSeconds: seconds.nullable().default(null),
    })
    .nullable()
    .default(null),
  /** Connections; without effect on UDP. */
  stream: z
    .strictObject({
      /** A new connection after this many queries; null: connections are kept for the whole run. */
      queriesPerConnection: z.int().min(1).nullable().default(null),
      /** Maximum queries outstanding on one connection (pipelining; HTTP/2 streams); null: limited by the window. */
      pipelining: z.int().min(1).max(65_535).nullable().default(null),
      /** Server name for TLS, and for its certificate; null: the host as written. */
      serverName: z.string().nullable().default(null),
      /** Whether to reject a certificate that does not verify. */
      verify: z.boolean().default(true),
      /** PEM file of certificate authorities; null: the system's. */
      caFile: z.string().nullable().default(null),
      /** DoH: path, such as "/dns-query". */
      path: z.string().startsWith('/').default(DOH_PATH),
      method: z.enum(['GET', 'POST']).default('POST'),
    })
    .prefault({}),
  /** Time between interval reports. */
  intervalSeconds: z.number().min(0.05).max(3600).default(1),
  /**
   * Whether to count by UDP socket as well, and to list the times of at least `gapSeconds` in which a socket waited for a good answer: one
   * with one of `codes`, or, null, any. A socket may get names of one kind only: give all codes that the names predict. Null: no.
   */
  sockets: z
    .strictObject({
      gapSeconds: seconds,
      codes: z.array(z.int().min(0).max(4095)).readonly().nullable().default([0, 3]),
    })
    .nullable()
    .default(null),
  /**
   * Use the kernel's receive timestamps, so latency does not include the time an answer waits in our own socket.
   * `auto`: where the platform supports them.
   */
  timestamps: z.enum(['auto', 'off']).default('auto'),
  /**
   * Pass queries of equal length that are sent together to the kernel as one message, which it splits (UDP_SEGMENT):
   * less than half the CPU time for the same datagrams. A capture on this machine may show them as one large packet.
   * `auto`: where the kernel and the device support it.
   */
  segmentation: z.enum(['auto', 'off']).default('auto'),
  /** SO_RCVBUF requested for each UDP socket, bytes. */
  receiveBufferBytes: z
    .int()
    .min(4096)
    .max(1 << 30)
    .default(4 << 20),
  /** Seed of everything random, so that a run can be repeated. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
});

export type CannonOptions = z.output<typeof optionsSchema>;
export type CannonInput = z.input<typeof optionsSchema>;
export type LoadOptions = z.output<typeof loadSchema>;
export type MessageOptions = z.output<typeof messageOptionsSchema>;
export type MessageInput = z.input<typeof messageOptionsSchema>;
