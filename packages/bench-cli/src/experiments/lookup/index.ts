/** Lookup: how long does a client wait for a name and a connection? */
import { defineExperiment } from '../../engine/command.ts';
import type { Measuring } from '../../engine/experiment.ts';
import { lookupDocument } from './document.ts';
import { lookupEstimands } from './estimands.ts';
import { type LookupEvidence, lookupEvidenceSchema } from './evidence.ts';
import { LOOKUP_GROUPS, LOOKUP_SETTINGS } from './settings.ts';
import { tigerBenchFormat } from './tiger/elements.ts';

const EXAMPLES = `
Examples:
  bench lookup --url http://example.org        from this machine, as it is
  bench lookup --local --servers coredns,unbound
                                               two resolvers on this machine
  bench lookup --target kubernetes --url http://standing-svc --services 0,1000
                                               do many Services slow it down?`;

export const lookup = defineExperiment({
  name: 'lookup',
  question: 'How long does a client wait for a name and a connection?',
  description: 'how long a client waits for a name and a connection, each sample a new process',
  settings: LOOKUP_SETTINGS,
  commands: [{ command: 'lookup', groups: LOOKUP_GROUPS, examples: EXAMPLES }],
  plan: async (settings, world) => (await import('./plan.ts')).planLookup(settings, world),
  async open(request) {
    return request.settings.target === 'kubernetes'
      ? (await import('./pods/cluster-target.ts')).openPods(request)
      : (await import('./open-local.ts')).openLocal(request);
  },
  evidence: lookupEvidenceSchema,
  trial: ({ measure }: Measuring<LookupEvidence>, planned, on) => measure(planned, on),
  estimands: lookupEstimands,
  document: lookupDocument,
  formats: [tigerBenchFormat],
  invoke: async (invocation) => (await import('./tiger/run-tests.ts')).invokeTests(invocation),
});
