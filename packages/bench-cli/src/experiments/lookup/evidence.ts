/** What a trial of `bench lookup` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import { type EngineRecord, engineKind } from '../../engine/record.ts';
import { latencyHistogramSchema, percentile } from '../../results/record-load.ts';
import { count, seconds } from '../../results/record-units.ts';
import { predictionSchema } from './policy/modes.ts';
import { PHASES } from './sampling/sample.ts';
import type { LookupSettings } from './settings.ts';

/** The times of one phase over samples that succeeded. */
const distributionSchema = z.object({
  n: count,
  min: seconds,
  max: seconds,
  mean: seconds,
  /** Nearest rank: the smallest of the n times that at least n · p ÷ 100 of them do not exceed. */
  percentiles: z.array(z.object({ percentile, seconds })),
  /** Twenty bins for each factor of ten. */
  histogram: latencyHistogramSchema,
});
export type Distribution = z.output<typeof distributionSchema>;

const phasesSchema = z.record(z.enum(PHASES), distributionSchema);
export type PhaseDistributions = z.output<typeof phasesSchema>;

/** Packets that begin a connection; see `capture/duplicates.ts`. */
const handshakesSchema = z.object({
  /** Without the repeated ones. */
  connections: count,
  /** Connections whose SYN was repeated at least once. */
  connectionsRepeated: count,
  syn: z.object({ ipv4: count, ipv6: count, ecn: count }),
  synAck: z.object({ ipv4: count, ipv6: count }),
  /** Packets beyond the first with the same addresses, ports and sequence number. */
  duplicateSyn: count,
  duplicateSynAck: count,
  /**
   * The same counts by tiger-bench's rule: IPv4 only, flags exactly SYN or SYN and ACK (so that SYNs that ask for ECN are
   * left out), and only against the last sequence number of the same addresses and ports.
   */
  tigerRule: z.object({ duplicateSyn: count, duplicateSynAck: count }),
});

const packetsSchema = z.object({
  handshakes: handshakesSchema,
  /** Queries for names, by UDP or TCP; null where they cannot be seen. */
  searches: z
    .object({
      queries: count,
      /** Sent again by the same socket with the same ID: nothing answered in time. */
      repeated: count,
      /** What was asked, most often first; at most twenty (`capture/searches.ts`). */
      questions: z.array(z.object({ name: z.string(), type: z.string(), queries: count })),
    })
    .nullable(),
  /** What tcpdump counted, over all interfaces. `isWhole`: it wrote everything that passed the filter, and lost nothing. */
  capture: z.object({ interfaces: z.array(z.string()), captured: count, received: count, dropped: count }),
  isWhole: z.boolean(),
});
export type Packets = z.output<typeof packetsSchema>;

export const lookupEvidenceSchema = z.object({
  /** Time that samples were taken for. */
  seconds,
  /** Samplers that ran at the same time: 1, or one for each pod. */
  samplers: z.array(
    z.object({
      name: z.string(),
      node: z.string().nullable(),
      samples: count,
      /** Times of the first sample where its pod had sent nothing before; null elsewhere, and if it failed. */
      first: z.object({ lookup: seconds, connect: seconds }).nullable(),
    }),
  ),
  samples: z.object({
    taken: count,
    succeeded: count,
    /** By the client's exit status; null for output that could not be read. */
    failed: z.array(z.object({ exitCode: z.int().nullable(), count })),
  }),
  /** Of samples that succeeded. */
  phases: phasesSchema,
  /** Which family of addresses the client chose. */
  families: z.object({ ipv4: count, ipv6: count }),
  /** Null without a capture. */
  packets: packetsSchema.nullable(),
  /** Packets that the kernel repeated meanwhile (TcpExtTCPSynRetrans), as a check of the capture. */
  kernel: z.object({
    /** SYN packets of the client's network namespace; null if it does not say. */
    syn: count.nullable(),
    /** SYN-ACK packets of the site's network namespace; null where it is elsewhere. */
    synAck: count.nullable(),
    /** `namespace`: nothing else is in it. `machine`: it counts all programs. */
    scope: z.enum(['namespace', 'machine']),
  }),
  /** What a simulated policy adds to each sample; null for a real one or none. */
  prediction: predictionSchema.nullable(),
});
export type LookupEvidence = z.output<typeof lookupEvidenceSchema>;
export type LookupRecord = EngineRecord<LookupEvidence, LookupSettings>;

export const lookupKind = engineKind<typeof lookupEvidenceSchema, LookupSettings>(
  'lookup',
  lookupEvidenceSchema,
);
