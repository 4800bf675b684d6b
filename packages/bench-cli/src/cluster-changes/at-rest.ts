/** Whether a workload may be changed now. Reads only. */
import { BenchError } from '../errors.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';
import { type DnsWorkload, imageIn, podsOf } from '../targets/kubernetes/dns-copy/find-workload.ts';
import { type ClusterApi, read } from './cluster-api.ts';
import { textAt, valueAt } from './json.ts';
import { rolloutOf } from './rollout.ts';

/**
 * A cluster in the middle of something else is no place to begin.
 * @throws BenchError `E_CONFIG` for a workload that is not at rest, or would not be replaced
 */
export async function demandRest({
  client,
  api,
  workload,
  signal,
}: {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly workload: DnsWorkload;
  readonly signal: AbortSignal;
}): Promise<void> {
  const object = await read(api, workload.path);
  const problem = (message: string, fix: string) =>
    new BenchError('E_CONFIG', `${workload.title} ${message}`, { fix: `${fix} Nothing was changed.` });
  if (textAt(object, '/spec/updateStrategy/type') === 'OnDelete')
    throw problem(
      'replaces pods only when they are deleted (OnDelete)',
      'Set its update strategy to RollingUpdate.',
    );
  if (valueAt(object, '/spec/paused') === true)
    throw problem('is paused', 'Resume it: `kubectl rollout resume`.');
  const rollout = rolloutOf(object);
  if (rollout !== null)
    throw problem(`is not at rest: ${rollout}`, 'Wait for its rollout: `kubectl rollout status`.');
  const pods = await podsOf(client, workload, signal);
  const other = pods.find((pod) => imageIn(pod, workload) !== workload.image);
  if (pods.length === 0) throw problem('has no pods', 'Scale it up.');
  if (other !== undefined)
    throw problem(`has a pod with another image: ${imageIn(other, workload)}`, 'Wait for its rollout.');
}
