/** Stress for the control plane: a Deployment that goes from nothing to 24 pods and back every ten seconds. */
import { messageOf } from '@dinodns-bench/program';
import { type ClusterApi, Refusal } from '../../../cluster-changes/cluster-api.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { idleDeployment } from './objects.ts';

/** As in tiger-bench. */
const PODS = 24;
const PERIOD_SECONDS = 10;

export interface Stress {
  /** How often the number of pods was changed. */
  readonly changes: number;
  /** Changes that the API server refused, in words: they do not end the trial. */
  readonly warnings: readonly string[];
}

async function scale(api: ClusterApi, path: string, replicas: number): Promise<void> {
  const { status, body } = await api.send({
    method: 'PATCH',
    path: `${path}/scale`,
    body: { spec: { replicas } },
    contentType: 'application/merge-patch+json',
  });
  if (status >= 300) throw new Refusal(status, `scale ${path}`, JSON.stringify(body));
}

/** Scales up and down until `during` has settled; then deletes the Deployment. */
export async function withStress<T>(
  { run, image, api, signal }: { run: ClusterRun; image: string; api: ClusterApi; signal: AbortSignal },
  during: () => Promise<T>,
): Promise<{ readonly result: T; readonly stress: Stress }> {
  const { client, namespace } = run;
  const deployment = idleDeployment({ ...run, image }, 'stress', 0);
  const name = deployment.metadata?.name ?? '';
  await client.create('Deployment', deployment, signal);
  const over = new AbortController();
  const warnings: string[] = [];
  let changes = 0;
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const loop = async () => {
    const until = AbortSignal.any([signal, over.signal]);
    for (let isUp = true; !until.aborted; isUp = !isUp) {
      try {
        await scale(api, path, isUp ? PODS : 0);
        changes += 1;
      } catch (error) {
        warnings.push(messageOf(error));
      }
      await client.clock.sleep(PERIOD_SECONDS, until).catch(() => undefined);
    }
  };
  const looping = loop();
  try {
    return { result: await during(), stress: { changes, warnings } };
  } finally {
    over.abort(new Error('the trial is over'));
    await looping;
    await client.delete('Deployment', name, namespace, signal.aborted ? AbortSignal.timeout(5000) : signal);
  }
}
