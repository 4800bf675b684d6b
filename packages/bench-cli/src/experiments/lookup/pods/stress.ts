/** Stress for the control plane: a Deployment that goes from nothing to 24 pods and back every ten seconds. */
import { messageOf } from '@dinodns-bench/program';
import { patch } from '../../../cluster-changes/cluster-api.ts';
import type { PatchOperation } from '../../../cluster-changes/json.ts';
import { tidyingSignal } from '../../../kubernetes-api/client.ts';
import { idleDeployment, type LookupPods } from './objects.ts';

/** As in tiger-bench. */
const PODS = 24;
const PERIOD_SECONDS = 10;

/** Scales up and down until `during` has settled; then deletes the Deployment. What the API server refuses does not end the trial. */
export async function withStress<T>(
  { run, api, signal, say }: LookupPods,
  during: () => Promise<T>,
): Promise<T> {
  const { client, namespace } = run;
  const deployment = idleDeployment(run, 'stress', 0);
  const name = deployment.metadata?.name ?? '';
  await client.create('Deployment', deployment, signal);
  const over = new AbortController();
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const loop = async () => {
    const until = AbortSignal.any([signal, over.signal]);
    for (let isUp = true; !until.aborted; isUp = !isUp) {
      const replicas: PatchOperation = { op: 'add', path: '/spec/replicas', value: isUp ? PODS : 0 };
      const problem = await patch(api, `${path}/scale`, [replicas]).then(
        (scaled) =>
          scaled === null
            ? 'the API server did not take it: somebody changed or deleted the Deployment, or a policy refuses it'
            : null,
        messageOf,
      );
      if (problem !== null) say(`Note: stress: ${problem}`);
      await client.clock.sleep(PERIOD_SECONDS, until).catch(() => undefined);
    }
  };
  const looping = loop();
  try {
    return await during();
  } finally {
    over.abort(new Error('the trial is over'));
    await looping;
    await client.delete('Deployment', name, namespace, tidyingSignal(signal));
  }
}
