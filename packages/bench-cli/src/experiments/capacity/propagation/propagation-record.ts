/** What `bench capacity propagation` records. Base units. */
import { z } from 'zod';
import { dnsStateSchema } from '../cluster/created.ts';

const nonnegative = z.number().nonnegative();
const count = z.number().int().nonnegative();

export const propagationCaseSchema = z.object({
  key: z.string(),
  /** `coredns-cluster@1.15.0`. */
  server: z.string(),
  configuration: z.string(),
  /** Pods and services that CoreDNS has read. */
  objects: count,
  /** Services created and deleted a second, together, besides those that are measured. */
  churnPerSecond: nonnegative,
});
export type PropagationCase = z.output<typeof propagationCaseSchema>;

const trialHead = {
  case: z.string(),
  /** From 0; trials of a round are compared with each other. */
  round: count,
  startedAt: z.iso.datetime(),
};

export const propagationTrialSchema = z.discriminatedUnion('status', [
  z.object({
    ...trialHead,
    status: z.literal('ok'),
    /**
     * Of each Service that resolved, to the arrival of the first right answer: from its event in the API server; on a cluster,
     * from the moment at which its creation was sent to the API server.
     */
    delaysSeconds: z.array(nonnegative),
    /** Of each: by how much less it may have been, because nobody asked earlier. */
    resolutionsSeconds: z.array(nonnegative),
    /** On a cluster, of each: from then until the API server had confirmed it, which may be later than the answer. */
    creationSeconds: z.array(nonnegative).optional(),
    /** Services without a right answer when the time was over. */
    unresolved: count,
    /** Queries that were sent, for all of them. */
    queries: count,
    /** What the API server really changed, without the measured Services. */
    heldChurnPerSecond: nonnegative,
  }),
  z.object({
    ...trialHead,
    status: z.literal('failed'),
    failure: z.object({ code: z.string(), message: z.string() }),
  }),
]);
export type PropagationTrial = z.output<typeof propagationTrialSchema>;
export type OkPropagationTrial = Extract<PropagationTrial, { readonly status: 'ok' }>;

export const propagationResultSchema = z.object({
  what: z.literal('propagation'),
  cases: z.array(propagationCaseSchema),
  trials: z.array(propagationTrialSchema),
  /** Between two queries for the same Service. */
  pollSeconds: nonnegative,
  timeoutSeconds: nonnegative,
  /** Absent where it was measured on one machine. */
  cluster: z
    .object({
      corednsImage: z.string(),
      /** Before the first trial and after the last one; null where there is none that bench knows. */
      clusterDns: z.object({ before: dnsStateSchema, after: dnsStateSchema }).nullable(),
    })
    .optional(),
});
export type PropagationResult = z.output<typeof propagationResultSchema>;
