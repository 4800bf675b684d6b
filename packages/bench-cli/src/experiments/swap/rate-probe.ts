/** Tries the rate before anything is changed or measured: a rate that cannot be held is a message, not an hour lost. */
import { BenchError } from '../../errors.ts';
import { formatFixed } from '../../report/numbers.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { NAME_SETS, type NameSet } from './evidence.ts';
import { MIN_RATE_RATIO } from './figures.ts';
import { measurePhase } from './measure-phase.ts';
import type { Measured, PhasesRequest } from './placed.ts';
import { advisedRate, PROBE_SECONDS } from './rate-held.ts';
import { namesWords } from './words.ts';

type ProbeRequest = PhasesRequest & Measured & { readonly signal: AbortSignal };

/** The first one also fills caches, and the machine may have been busy for a moment. */
const MAX_TRIES = 2;
/** Queries that were answered, per second. */
async function reachedRate(request: ProbeRequest, kind: NameSet): Promise<number> {
  const run: ClusterRun = { ...request.run, observation: 'none' };
  const { load } = await measurePhase({ ...request, run, kind, seconds: PROBE_SECONDS, name: 'probe' });
  // Not the loader's own rate: the time that the last answers take is no part of the load.
  return (load?.queriesCompleted ?? 0) / PROBE_SECONDS;
}

function noRate({ settings, workload }: ProbeRequest, kind: NameSet, held: number): BenchError {
  const advised = advisedRate(held);
  const fix = advised > 0 ? `Give a lower one: --rate ${advised}.` : 'Find out why the DNS does not answer.';
  return new BenchError(
    'E_NO_RATE',
    `the rate cannot be held: ${formatFixed(held, 0)} of ${formatFixed(settings.rate, 0)} queries per second for ${namesWords(kind)} were answered by ${workload.image}`,
    { fix: `${fix} Nothing was changed.` },
  );
}

/** @throws BenchError `E_NO_RATE` if one of the workloads is not answered at the rate. */
export async function demandRate(request: ProbeRequest): Promise<void> {
  const { settings, say } = request;
  const { rate } = settings;
  for (const kind of NAME_SETS) {
    say(`trying ${formatFixed(rate, 0)} queries per second for ${namesWords(kind)}`);
    let held = 0;
    for (let tries = 0; tries < MAX_TRIES && held < rate * MIN_RATE_RATIO; tries += 1)
      held = Math.max(held, await reachedRate(request, kind));
    if (held < rate * MIN_RATE_RATIO) throw noRate(request, kind, held);
  }
}
