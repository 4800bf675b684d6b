/** The record of a swap: what each placement measured, what was changed and put back, and the verdicts. */
import { z } from 'zod';
import {
  instanceObservationSchema,
  loadResultSchema,
  observationSchema,
  summaryStatisticSchema,
} from '../../results/record.ts';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { bytes, count, ratio, seconds, timestamp } from '../../results/record-units.ts';

export const SIDES = ['A', 'B'] as const;
export const WORKLOADS = ['internal', 'external'] as const;

/** A: the version that runs in the cluster; B: the one that is compared with it. */
const sideSchema = z.enum(SIDES);
export type Side = z.output<typeof sideSchema>;
export type SwapWorkload = (typeof WORKLOADS)[number];

/** How a program was built, as it says itself. */
const buildSchema = z.object({
  /** `linux/amd64` */
  platform: z.string(),
  /** `1.25.2` */
  goVersion: z.string(),
  /** Who built that Go, and its package: `Red Hat 1.23.9-1.el9_6`; null where it does not say. */
  vendor: z.string().nullable(),
  /** The experiment of Go that enforces FIPS 140: `strictfipsruntime`; null without one. */
  fips: z.string().nullable(),
  /** Of the source; null where it does not say. */
  revision: z.string().nullable(),
});
export type SwapBuild = z.output<typeof buildSchema>;

const versionSchema = z.object({
  /** `coredns@1.13.1` */
  name: z.string(),
  /** As the program itself reports it. */
  version: z.string(),
  image: z.string(),
  /** One for each architecture of the nodes; empty where the program does not say, and in older records. */
  builds: z.array(buildSchema).default([]),
});

const phaseSchema = z.object({
  kind: z.enum(['idle', ...WORKLOADS]),
  startedAt: timestamp,
  endedAt: timestamp,
  /** Null while idle. */
  load: loadResultSchema.nullable(),
  /** Of the DNS containers, without their sidecars; null where nothing could be observed. */
  observation: observationSchema.nullable(),
  instances: z.array(instanceObservationSchema).nullable(),
});
export type Phase = z.output<typeof phaseSchema>;

/** What the canary, a client of the cluster's DNS, saw. */
export const canarySchema = z.object({
  seconds,
  sent: count,
  lost: count,
  /** In a row with losses. */
  longestLossSeconds: seconds,
});

export type CanaryFigures = z.output<typeof canarySchema>;

export const FAILURES = ['reverted', 'restarted', 'mixed-versions', 'failed'] as const;

const podSchema = z.object({
  pod: z.string(),
  node: z.string(),
  image: z.string(),
  /** As the node resolved it. */
  imageId: z.string(),
  version: z.string().nullable(),
  /** `metrics`: from its coredns_build_info; `image`: from `-version` of the same image. */
  source: z.enum(['metrics', 'image']).nullable(),
  restarts: count,
  startedAt: z.string(),
});

/** One version in place for some time: the unit of replication. */
const placementSchema = z.object({
  /** From 1. Placements 1 and 2 are a pair, 3 and 4 the next. */
  number: z.number().int().positive(),
  side: sideSchema,
  image: z.string(),
  startedAt: timestamp,
  endedAt: timestamp,
  /** Null if the version was in place already. */
  rolloutSeconds: seconds.nullable(),
  /** From the change until the pods were ready, and three seconds more; null without one, and beside the cluster's DNS. */
  rolloutCanary: canarySchema.nullable(),
  /** Afterwards; null beside the cluster's DNS. */
  canary: canarySchema.nullable(),
  pods: z.array(podSchema),
  phases: z.array(phaseSchema),
  /** Why it does not count; null if it does. */
  failure: z.object({ reason: z.enum(FAILURES), message: z.string() }).nullable(),
});
export type SwapPlacement = z.output<typeof placementSchema>;

export const VERDICTS = [
  'more',
  'less',
  'no difference shown',
  'load not visible',
  'not comparable',
] as const;
export type SwapVerdict = (typeof VERDICTS)[number];

const differenceSchema = z.object({
  /** Pairs of placements that count. */
  pairs: count,
  /** Of net CPU, B − A: the centre of the pairs' differences; null without a pair. */
  netCores: z.number().nullable(),
  /** Its 95 % interval; null below two pairs. */
  lowCores: z.number().nullable(),
  highCores: z.number().nullable(),
  /** For "there is no difference", and after correction for both workloads. */
  pValue: ratio.nullable(),
  adjustedPValue: ratio.nullable(),
  method: z.string().nullable(),
  /** The smallest true difference that so many pairs would show in four of five swaps. */
  detectableCores: z.number().nonnegative().nullable(),
  /** Of CPU under load, idle included, B ÷ A − 1, as published; with its 95 % interval. */
  loadedRatio: z.number().nullable(),
  loadedLow: z.number().nullable(),
  loadedHigh: z.number().nullable(),
  verdict: z.enum(VERDICTS),
  /** Why there is no verdict on CPU; else empty. */
  reasons: z.array(z.string()),
});
export type SwapDifference = z.output<typeof differenceSchema>;

const rowSchema = z.object({
  side: sideSchema,
  workload: z.enum(WORKLOADS),
  /** Placements that count. */
  placements: count,
  /** Over placements: medians with 95 % intervals; null without a placement that has the figure. */
  idleCores: summaryStatisticSchema.nullable(),
  loadedCores: summaryStatisticSchema.nullable(),
  netCores: summaryStatisticSchema.nullable(),
  cpuSecondsPerQuery: summaryStatisticSchema.nullable(),
  qps: summaryStatisticSchema.nullable(),
  p99Seconds: summaryStatisticSchema.nullable(),
  memoryBytes: summaryStatisticSchema.nullable(),
  /** Completed ÷ asked for, the least of all placements. */
  rateHeldRatio: z.number().nonnegative().nullable(),
  lostRatio: ratio.nullable(),
  /** Placements in which pods were restarted or replaced. */
  restarts: count,
  /** Null for A, which B is compared with. */
  difference: differenceSchema.nullable(),
});
export type SwapRow = z.output<typeof rowSchema>;

const changeSchema = z.object({
  /** `set image of Deployment kube-system/coredns`. */
  what: z.string(),
  before: z.string(),
  after: z.string(),
  /** Of the journal: `reverted`, or `superseded` where somebody else had changed it. */
  state: z.string(),
});

const ownQueriesSchema = z.object({ file: z.string(), names: count }).optional();

export const swapSchema = z.object({
  ...envelope('swap', 1),
  /** `shadow`: beside the cluster's DNS, which stays untouched; `in-place`: in the cluster's own DNS. */
  method: z.enum(['shadow', 'in-place']),
  versions: z.object({ A: versionSchema, B: versionSchema }),
  /** The cluster's DNS as it was found. */
  workload: z.object({
    /** `Deployment kube-system/coredns` */
    title: z.string(),
    container: z.string(),
    service: z.string(),
    pods: count,
    /** Images of the containers beside it, by name. */
    sidecars: z.record(z.string(), z.string()),
    cpuLimitCores: z.number().nonnegative().nullable(),
    memoryLimitBytes: bytes.nullable(),
  }),
  settings: z.object({
    ratePerSecond: z.number().positive(),
    durationSeconds: seconds,
    idleSeconds: seconds,
    settleSeconds: seconds,
    /** `ABBAABBA` */
    sequence: z.string(),
    /** Files of the user; the other workloads, and all of older records, ask for names of the cluster and six outside of it. */
    queries: z.object({ internal: ownQueriesSchema, external: ownQueriesSchema }).optional(),
  }),
  /** What the copies of `shadow` lack, in words. */
  notCarriedOver: z.array(z.string()),
  placements: z.array(placementSchema),
  /** Why it ended early; null otherwise. */
  failure: z.object({ code: z.string(), message: z.string(), fix: z.string() }).nullable(),
  /** Null for `shadow`, which changes nothing; and where `bench` did not see it: then the guard in the cluster does it. */
  restore: z
    .object({
      /** From the end of the last placement until everything was as before and verified. */
      seconds,
      /** In the order in which they were made. */
      changes: z.array(changeSchema),
      /** What a client saw of it; null where the image was as before already. */
      canary: canarySchema.nullable().default(null),
      /** What somebody else had changed meanwhile, and so was left alone. */
      superseded: z.array(z.string()),
    })
    .nullable(),
  /** B after A, internal before external. */
  results: z.array(rowSchema),
});
export type SwapRecord = z.output<typeof swapSchema>;

export const swapKind: RecordKind<SwapRecord> = {
  experiment: 'swap',
  schemaVersion: 1,
  schema: swapSchema,
  migrations: [],
  schemaFile: 'swap.schema.json',
  title: 'Record of a swap of dinodns-bench (run.json)',
};
