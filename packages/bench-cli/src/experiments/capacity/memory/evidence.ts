/** What `bench capacity memory` records of each start of CoreDNS, on this machine and on a cluster. Base units; nothing is rounded. */
import { z } from 'zod';
import { type EngineRecord, engineKind } from '../../../engine/record.ts';
import { bytes, count, seconds } from '../../../results/record-units.ts';
import { queriesSchema } from '../beside/phases.ts';
import { clusterDnsChangeSchema, createdSchema } from '../cluster/created.ts';

/**
 * Memory of the process at one moment. The figure for sizing is the anonymous part. It is what the kubelet calls the working
 * set, give or take a megabyte: in a control group of its own, CoreDNS with 15,820 objects had 164.9 MB of anonymous memory and a
 * working set (usage without inactive files) of 166.2 MB.
 */
const readingSchema = z.object({
  /** What belongs to no file: the kernel cannot drop it when memory is short, but must kill. */
  anonymousBytes: bytes,
  /** Resident set: the same, and the pages of the program file that were used, about 50 MB of CoreDNS. */
  residentBytes: bytes.nullable(),
  /** Proportional set: shared pages divided among those that share them. Null where it may not be read. */
  proportionalBytes: bytes.nullable(),
});
export type MemoryReading = z.output<typeof readingSchema>;

/** Go's own account, from CoreDNS's metrics; null for what was not asked for. */
const heapSchema = z.object({
  allocatedBytes: bytes.nullable(),
  inUseBytes: bytes.nullable(),
  /** Returned to the system. */
  releasedBytes: bytes.nullable(),
  /** The heap size at which Go collects its garbage next. */
  nextCollectionBytes: bytes.nullable(),
  /** Collections since the start. */
  collections: count.nullable(),
});

/** The 95th percentile of the readings of a few seconds, and Go's account at the end of them. On a cluster, only of the anonymous part. */
const stageSchema = readingSchema.extend({ heap: heapSchema });
export type MemoryStage = z.output<typeof stageSchema>;

/**
 * The stages of a start, in their order:
 * - `loaded`: after all objects were read, with the garbage of reading them;
 * - `settled`: after light load has made Go collect that garbage, and memory fell no more; the cache is nearly empty;
 * - `fullCache`: the cache is full of positive and of negative answers (null where there is no cache);
 * - `underLoad`: the same, while queries are answered at the rate of the run;
 * - `reread`: after all objects were read again.
 * On a cluster, nothing is done to settle it, and nothing is measured afterwards.
 */
export const MEMORY_STAGES = ['loaded', 'settled', 'fullCache', 'underLoad', 'reread'] as const;

const peakSchema = z.object({ peak: z.object({ anonymousBytes: bytes }) });

export const memoryEvidenceSchema = z.object({
  /** From the start of the process until all objects were read. */
  coldStart: peakSchema,
  /** The same after 410 Gone for everybody, with a full cache; on a cluster, under load as well. */
  relist: peakSchema,
  stages: z.object({
    loaded: stageSchema,
    settled: stageSchema.nullable(),
    fullCache: stageSchema.nullable(),
    underLoad: stageSchema,
    reread: stageSchema.nullable(),
  }),
  /** How the settled state was reached. `isStable` is false where it still fell at the end of the time for it. */
  settling: z.object({ seconds, collections: count, isStable: z.boolean() }).nullable(),
  cacheEntries: z.object({ success: count, denial: count }).nullable(),
  load: z.object({
    wantedQps: z.number().positive(),
    heldQps: z.number().nonnegative(),
    lostRatio: z.number().min(0).max(1),
  }),
  /** Null on this machine. */
  cluster: z
    .object({
      ...createdSchema.shape,
      /** What the cluster had before anything was created. Older records do not have it: there it is part of the constants of the lines. */
      own: z.object({ services: count, pods: count, endpoints: count }).optional(),
      clusterDns: clusterDnsChangeSchema,
      /** Of all stages. */
      queries: queriesSchema,
      /** Under load, read by the kubelet within the last 15 seconds; null where it may not be read. */
      workingSetBytes: bytes.nullable(),
    })
    .nullable(),
});
export type MemoryEvidence = z.output<typeof memoryEvidenceSchema>;

export const MEMORY_NAME = 'capacity-memory';

/** For commands that read its records. */
export const memoryKind = engineKind<typeof memoryEvidenceSchema, Readonly<Record<string, unknown>>>(
  MEMORY_NAME,
  memoryEvidenceSchema,
);
export type MemoryRecord<Settings = unknown> = EngineRecord<MemoryEvidence, Settings>;

interface FigureFacts {
  /** In the middle of a sentence. */
  readonly title: string;
  /** What a cluster must hold is compared; the others depend on when Go last collected its garbage. */
  readonly compared: 'ratio' | 'no';
  /** Null where this configuration or place has none. */
  of(evidence: MemoryEvidence): number | null;
}

export type MemoryFigure = 'coldStartPeak' | 'loaded' | 'settled' | 'fullCache' | 'steady' | 'relistPeak';

/** Figures of a start, in anonymous bytes, in the order of a start. `steady` is a full cache and the rate of the run, as published. */
export const FIGURES: Readonly<Record<MemoryFigure, FigureFacts>> = {
  coldStartPeak: {
    ...{ title: 'cold-start peak', compared: 'ratio' },
    of: ({ coldStart }) => coldStart.peak.anonymousBytes,
  },
  loaded: { title: 'just loaded', compared: 'no', of: ({ stages }) => stages.loaded.anonymousBytes },
  settled: { title: 'settled', compared: 'no', of: ({ stages }) => stages.settled?.anonymousBytes ?? null },
  fullCache: {
    ...{ title: 'full cache', compared: 'no' },
    of: ({ stages }) => stages.fullCache?.anonymousBytes ?? null,
  },
  steady: { title: 'under load', compared: 'ratio', of: ({ stages }) => stages.underLoad.anonymousBytes },
  relistPeak: { title: 'relist peak', compared: 'ratio', of: ({ relist }) => relist.peak.anonymousBytes },
};
// It has no others.
export const MEMORY_FIGURES = Object.keys(FIGURES) as readonly MemoryFigure[];

/** The most that a start needed before its cache was filled: memory may still rise after all objects were read. Anonymous bytes. */
export function maximumWithoutCache({ stages, coldStart }: MemoryEvidence): number {
  return Math.max(
    coldStart.peak.anonymousBytes,
    stages.loaded.anonymousBytes,
    stages.settled?.anonymousBytes ?? 0,
  );
}
