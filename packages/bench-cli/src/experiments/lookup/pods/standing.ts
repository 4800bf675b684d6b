/**
 * What stands around the sampler pods: ten web pods behind any number of Services, further pods, and policies. Everything is in
 * the namespace of the run, and goes with it.
 */

import { create } from '../../../cluster-changes/cluster-api.ts';
import { clusterRefuses } from '../../../errors.ts';
import { inParallel } from '../../../kubernetes-api/in-parallel.ts';
import { unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { startDeployment } from '../../../targets/kubernetes/wait-for-pods.ts';
import { formatDuration } from '../../../text.ts';
import type { LookupSettings } from '../settings.ts';
import {
  idleDeployment,
  type LookupPods,
  STANDING_SERVICE,
  standingPolicy,
  webDeployment,
  webService,
} from './objects.ts';

/** As tiger-bench creates Services: more at once only makes the API server slower for everybody. */
const WIDTH = 10;

/** The web pods and the Service in front of them, and further pods that only exist. Resolves when all of them are ready. */
export async function deployPods(
  { run, programs, signal }: LookupPods,
  { webAddress, standingPods }: Pick<LookupSettings, 'webAddress' | 'standingPods'>,
): Promise<void> {
  await run.client.create('Service', webService(run, 0, webAddress), signal);
  await startDeployment(run, webDeployment(run, programs), 'the web pods', signal);
  if (standingPods === 0) return;
  await startDeployment(run, idleDeployment(run, 'standing', standingPods), 'the standing pods', signal);
}

export async function createPolicies(
  { run, api }: LookupPods,
  { standingPolicies, idlePolicies }: Pick<LookupSettings, 'standingPolicies' | 'idlePolicies'>,
): Promise<void> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${run.namespace}/networkpolicies`;
  const policies = [
    ...range(0, standingPolicies).map((number) => standingPolicy(run, number, false)),
    ...range(0, idlePolicies).map((number) => standingPolicy(run, number, true)),
  ];
  await inParallel(policies, WIDTH, (policy) => create(api, path, policy));
}

/** Numbers beyond the first, up to the second. */
const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index + 1);

/**
 * The Services beside the target, from trial to trial: creates what is missing and deletes what is too much, also of what a trial
 * that failed has left. Resolves with the URL of the newest Service, if there is any.
 */
export function standingServices({
  run,
  signal,
  say,
}: Pick<LookupPods, 'run' | 'signal' | 'say'>): (count: number) => Promise<string | null> {
  const { client, namespace } = run;
  const { clock } = client;
  const nameOf = (number: number) => `${STANDING_SERVICE}-${number}`;

  /** Names; kube-proxy sees what the API server has. */
  const listed = async () => {
    const labels = unitSelector(run.runId, 'services');
    const { items } = await client.list('Service', { namespace, labels }, signal);
    const names = items.map(({ metadata }) => metadata?.name ?? '');
    return new Set(names.filter((name) => name !== STANDING_SERVICE));
  };

  return async (count) => {
    const startedAt = clock.monotonicSeconds();
    const before = await listed();
    const wanted = new Map(range(0, count).map((number) => [nameOf(number), number]));
    const missing = [...wanted].filter(([name]) => !before.has(name));
    await inParallel(missing, WIDTH, ([, number]) =>
      client.create('Service', webService(run, number), signal),
    );
    const surplus = [...before].filter((name) => !wanted.has(name));
    await inParallel(surplus, WIDTH, (name) => client.delete('Service', name, namespace, signal));
    const { size: found } = await listed();
    if (found !== count) {
      throw clusterRefuses(
        `the namespace has ${found} standing Services, not ${count}`,
        'Something else deletes or creates Services there, for example a policy of the cluster.',
      );
    }
    if (count !== before.size) {
      const time = formatDuration(clock.monotonicSeconds() - startedAt);
      say(`standing Services: ${before.size} → ${count} in ${time}`);
    }
    return count === 0 ? null : `http://${nameOf(count)}`;
  };
}
