/** What `bench capacity memory` records of each start of CoreDNS, and of each point. Base units; nothing is rounded. */
import { z } from 'zod';

const bytes = z.number().nonnegative();
const seconds = z.number().nonnegative();
const count = z.number().int().nonnegative();

/**
 * Memory of the process at one moment. The figure for sizing is the anonymous part. It is what the kubelet calls the working
 * set, but for a megabyte: in a control group of its own, CoreDNS with 15,820 objects had 164.9 MB of anonymous memory and a
 * working set (usage without inactive files) of 166.2 MB.
 */
export const memoryReadingSchema = z.object({
  /** What belongs to no file: the kernel cannot drop it when memory is short, but must kill. */
  anonymousBytes: bytes,
  /** Resident set: the same, and the pages of the program file that were used, about 50 MB of CoreDNS. */
  residentBytes: bytes,
  /** Proportional set: shared pages divided among those that share them. Null where it may not be read. */
  proportionalBytes: bytes.nullable(),
});
export type MemoryReading = z.output<typeof memoryReadingSchema>;

/** Go's own account, from CoreDNS's metrics. */
export const goHeapSchema = z.object({
  allocatedBytes: bytes,
  inUseBytes: bytes,
  /** Returned to the system. */
  releasedBytes: bytes,
  systemBytes: bytes,
  /** The heap size at which Go collects its garbage next. */
  nextCollectionBytes: bytes,
  /** Collections since the start. */
  collections: count,
});
export type GoHeap = z.output<typeof goHeapSchema>;

/** The 95th percentile of the readings of a few seconds, and Go's account at the end of them. */
export const memoryStageSchema = memoryReadingSchema.extend({ readings: count, heap: goHeapSchema });
export type MemoryStage = z.output<typeof memoryStageSchema>;

/**
 * The stages of a start, in their order:
 * - `loaded`: right after all objects were read, with the garbage of reading them;
 * - `settled`: after light load has made Go collect that garbage, and memory fell no more; the cache is nearly empty;
 * - `fullCache`: the cache is full of positive and of negative answers (null where there is no cache);
 * - `underLoad`: the same, while queries are answered at the rate of the run;
 * - `reread`: after all objects were read again.
 */
export const MEMORY_STAGES = ['loaded', 'settled', 'fullCache', 'underLoad', 'reread'] as const;
export type MemoryStageName = (typeof MEMORY_STAGES)[number];

const peakSchema = z.object({ anonymousBytes: bytes, residentBytes: bytes });

export const completeStartSchema = z.object({
  status: z.literal('ok'),
  /** From the start of the process until all objects were read, and memory rose no more. */
  coldStart: z.object({ peak: peakSchema, seconds }),
  /** The same after 410 Gone for everybody, with a full cache and without load. */
  relist: z.object({ peak: peakSchema, seconds }),
  stages: z.object({
    loaded: memoryStageSchema,
    settled: memoryStageSchema,
    fullCache: memoryStageSchema.nullable(),
    underLoad: memoryStageSchema,
    reread: memoryStageSchema,
  }),
  /** How the settled state was reached. `isStable` is false where it still fell at the end of the time for it. */
  settling: z.object({ seconds, collections: count, isStable: z.boolean() }),
  cacheEntries: z.object({ success: count, denial: count }).nullable(),
  load: z.object({
    wantedQps: z.number().positive(),
    heldQps: z.number().nonnegative(),
    lostRatio: z.number().min(0).max(1),
  }),
  /** Of our API server. */
  apiServerBytes: bytes,
});

export const failedStartSchema = z.object({
  status: z.literal('failed'),
  failure: z.object({ code: z.string(), message: z.string(), phase: z.string() }),
});

export const memoryStartSchema = z.intersection(
  z.object({
    /** The key of its point. */
    point: z.string(),
    /** From 1. */
    start: z.number().int().positive(),
    startedAt: z.iso.datetime(),
    durationSeconds: seconds,
    /** Other starts that ran when it began. */
    neighbours: count,
  }),
  z.discriminatedUnion('status', [completeStartSchema, failedStartSchema]),
);
export type MemoryStart = z.output<typeof memoryStartSchema>;
export type CompleteStart = MemoryStart & z.output<typeof completeStartSchema>;

const summarySchema = z.object({
  median: z.number(),
  /** 95 % interval of the median; null with fewer than two starts. */
  low: z.number().nullable(),
  high: z.number().nullable(),
  n: count,
});
export type MemorySummary = z.output<typeof summarySchema>;

/** Figures of a point, in anonymous bytes. `steady` is `underLoad`: a full cache and the rate of the run, as published. */
export const MEMORY_FIGURES = [
  'settled',
  'fullCache',
  'steady',
  'loaded',
  'coldStartPeak',
  'relistPeak',
] as const;
export type MemoryFigure = (typeof MEMORY_FIGURES)[number];

export const memoryPointSchema = z.object({
  key: z.string(),
  /** As in `--servers`: `coredns-cluster@1.15.0`. */
  server: z.string(),
  /** `default`, `autopath`, … */
  configuration: z.string(),
  /** Pods and services. */
  objects: count,
  services: count,
  pods: count,
  endpoints: count,
  headlessShare: z.number().min(0).max(1),
  /** Whether CoreDNS keeps all pods. */
  watchesPods: z.boolean(),
  starts: count,
  failedStarts: count,
  /** Null for what no start has measured. */
  figures: z.object({
    settled: summarySchema.nullable(),
    fullCache: summarySchema.nullable(),
    steady: summarySchema.nullable(),
    loaded: summarySchema.nullable(),
    coldStartPeak: summarySchema.nullable(),
    relistPeak: summarySchema.nullable(),
  }),
  /** The rate that was held under load; median over the starts. */
  heldQps: z.number().nullable(),
});
export type MemoryPointRecord = z.output<typeof memoryPointSchema>;

export const fitTermSchema = z.object({
  /** Bytes for one of these; `constant` is the rest. */
  of: z.enum(['constant', 'objects', 'services', 'pods', 'endpoints']),
  bytes: z.number(),
  /** 95 % interval. */
  low: z.number(),
  high: z.number(),
});

/**
 * The line through all starts of a server and configuration: bytes = constant + Σ term × count. Starts scatter in proportion
 * to what they need, so each counts by its distance from the line as a share of the line.
 */
export const memoryFitSchema = z.object({
  server: z.string(),
  configuration: z.string(),
  figure: z.enum(MEMORY_FIGURES),
  terms: z.array(fitTermSchema),
  /** Of the terms with each other, in their order; bytes². How well the line is known at a size. */
  covariance: z.array(z.array(z.number())),
  /** Standard deviation of the starts around the line, as a share of the line: 0.05 is 5 %. */
  scatterRatio: z.number().nonnegative(),
  starts: count,
  /** Largest number of objects that was measured: the line says nothing far beyond it. */
  maxObjects: count,
  /** Why counts that go together have one term; null if every count has its own. */
  merged: z.string().nullable(),
});
export type MemoryFit = z.output<typeof memoryFitSchema>;

export const memoryResultSchema = z.object({
  what: z.literal('memory'),
  starts: z.array(memoryStartSchema),
  points: z.array(memoryPointSchema),
  fits: z.array(memoryFitSchema),
});
export type MemoryResult = z.output<typeof memoryResultSchema>;
