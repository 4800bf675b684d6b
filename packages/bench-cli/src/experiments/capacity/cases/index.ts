/** `bench capacity throughput` and `bench capacity caching`: how many lookups a second, and at what cost. */
import { defineExperiment } from '../../../engine/command.ts';
import type { Measuring, OpenRequest, PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import { casesDocument } from './document.ts';
import {
  CACHING,
  type CasesEvidence,
  type CasesPlan,
  type CasesRecord,
  casesEvidenceSchema,
  ESTIMANDS,
  THROUGHPUT,
} from './evidence.ts';
import { CACHING_SETTINGS, THROUGHPUT_SETTINGS } from './settings.ts';

const common = {
  open: (request: OpenRequest<unknown, CasesPlan['decided']>) => request.decided.open(request),
  evidence: casesEvidenceSchema,
  trial: ({ measure }: Measuring<CasesEvidence>, planned: PlannedTrial, on: TrialEvents) =>
    measure(planned, on),
  estimands: () => ESTIMANDS,
  document: (record: CasesRecord) => casesDocument(record),
};

export const throughput = defineExperiment({
  ...common,
  name: THROUGHPUT,
  command: 'capacity throughput',
  question: 'How many lookups a second does CoreDNS answer, by configuration and kind of name?',
  description:
    "CoreDNS's lookups per second for each configuration, at saturation and at half that rate, on this machine or on a cluster",
  settings: THROUGHPUT_SETTINGS,
  async plan(settings, world): Promise<CasesPlan> {
    const { throughputPlan } = await import('./throughput.ts');
    return throughputPlan(settings, world);
  },
});

export const caching = defineExperiment({
  ...common,
  name: CACHING,
  command: 'capacity caching',
  question: 'What do the caching tiers of cluster DNS answer, and at what cost?',
  description:
    "caching tiers of kube-dns (dnsmasq) and NodeLocal DNSCache, and CoreDNS's cache: cached, off, and too small",
  settings: CACHING_SETTINGS,
  async plan(settings, world): Promise<CasesPlan> {
    if (settings.target === 'kubernetes') {
      const { clusterCachingPlan } = await import('./cluster/caching.ts');
      return clusterCachingPlan(settings, world);
    }
    const { cachingPlan } = await import('./caching.ts');
    return cachingPlan(settings, world);
  },
});
