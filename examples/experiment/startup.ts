/**
 * An experiment of one's own: how long does a DNS server take from its start until it answers?
 *
 *     bench --experiment ./startup.ts startup --servers dinodns,dinodns-stock --zones 1000
 *
 * It can be resumed, repeats until a verdict, compares and reports like the ones that bench has.
 */
import {
  defineExperiment,
  openServers,
  pick,
  planServers,
  serverTrial,
  withServer,
  z,
} from '@dinodns-bench/bench-cli/engine';

export default defineExperiment({
  name: 'startup',
  question: 'How long does a DNS server take until it answers?',
  description: 'the time from the start of a server until it answers',
  settings: pick([
    'servers',
    'baseline',
    'tier',
    'mode',
    'workload',
    'zones',
    'cpu',
    'corednsVersion',
    'provision',
  ]),
  plan: (settings, world) => planServers(world, 'startup', settings, 0),
  async open(request) {
    const opened = await openServers(request);
    return {
      ...opened,
      context: { trials: opened.context, decided: request.decided, clock: request.world.clock },
    };
  },
  evidence: z.object({
    /** Until the server answered its first query, seconds. */
    answeredAfter: z.number().positive(),
  }),
  async trial({ trials, decided, clock }, planned, on) {
    const { server, planned: found } = serverTrial(decided, planned);
    const begin = clock.monotonicSeconds();
    // A deployed server has answered a query.
    const answeredAfter = await withServer(
      trials,
      found,
      server,
      on,
      async () => clock.monotonicSeconds() - begin,
    );
    return { answeredAfter };
  },
  estimands: () => [
    {
      name: 'startSeconds',
      title: 'time to first answer',
      unit: 'seconds',
      better: 'less',
      compared: 'ratio',
      of: ({ answeredAfter }) => answeredAfter,
    },
  ],
  document: ({ subjects }) => ({
    kind: 'Startup',
    title: `How long until it answers: ${subjects.map(({ title }) => title).join(', ')}`,
    method: ['Each trial starts the server anew and asks until it answers.'],
  }),
});
