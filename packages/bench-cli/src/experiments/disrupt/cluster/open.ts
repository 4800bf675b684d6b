/**
 * A cluster for `bench disrupt`: a namespace of the run, in which copies of the cluster's DNS are disrupted. Nodes and the DNS
 * itself are changed under a journal, and a guard puts them back if this process cannot.
 */

import { demandRest } from '../../../cluster-changes/at-rest.ts';
import { demandConsent, openChangeable } from '../../../cluster-changes/connected-api.ts';
import { copyRights, readRights } from '../../../cluster-changes/copy-rights.ts';
import { explained } from '../../../cluster-changes/explain.ts';
import { openGuardedCluster } from '../../../cluster-changes/guarded.ts';
import { faultRights } from '../../../cluster-changes/pod-faults.ts';
import { kubernetesOf } from '../../../config/kubernetes-settings.ts';
import type { Measuring, Opened } from '../../../engine/experiment.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { imageRecord } from '../../../servers/image-record.ts';
import { demandConntrack, nodesToRead } from '../../../targets/kubernetes/conntrack.ts';
import { cacheWarnings } from '../../../targets/kubernetes/existing-service.ts';
import { imagesOf } from '../../../targets/kubernetes/images.ts';
import { namespaceOf } from '../../../targets/kubernetes/objects/labels.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { DisruptEvidence } from '../evidence.ts';
import { type ClusterRequest, placeIn } from './place.ts';
import { clusterTrial } from './trial.ts';

const ROLE_FILE = 'k8s/rbac.yaml';

/**
 * @throws BenchError `E_USAGE` without consent, `E_CLUSTER_FORBIDDEN` that names every missing right; in both cases before
 * anything is created
 */
export async function openOnCluster(request: ClusterRequest): Promise<Opened<Measuring<DisruptEvidence>>> {
  const { world, runId, settings, decided, signal, force, display } = request;
  const { copy, server, faults, role, changedPaths } = decided;
  const { workload } = copy;
  const { leaseNamespace, lease: leaseSeconds, inPlace } = settings;
  if (inPlace) demandConsent(settings, `this replaces the pods of ${workload.title}`);
  const kubernetes = kubernetesOf({ ...settings, observe: 'none' });
  // Not ended by the first Ctrl-C, after which everything is put back.
  const { client, api, apiUntil } = await openChangeable(world, settings.context, force);
  const own = inPlace ? null : namespaceOf(kubernetes.namespacePrefix, runId);
  const environment = await describeEnvironment(world);
  const { opened, guarded, ...cluster } = await openGuardedCluster({
    ...{ world, runId, signal, force, display, client, apiUntil, leaseNamespace, leaseSeconds },
    rights: [
      ...(inPlace ? readRights(workload) : copyRights(workload, role)),
      ...faultRights(faults, own, workload),
    ],
    role: ROLE_FILE,
    demandReady: async () => {
      if (inPlace) await demandRest({ client, api, workload, signal });
    },
    settings: kubernetes,
    images: imagesOf(kubernetes, 'builtin'),
    loadSeconds: settings.duration,
    serverCores: 0,
    loaders: 1,
    paths: changedPaths,
    experiment: 'disrupt',
    settleSeconds: kubernetes.readyTime,
    ...(settings.conntrack ? { podSecurity: 'privileged' } : {}),
  });
  await using made = cluster.made;
  if (settings.conntrack) await demandConntrack(opened.run, workload.service.address, cluster.signal);
  const place = await placeIn(request, { opened, guarded, signal: cluster.signal }, api);
  const caches = inPlace ? await cacheWarnings(client, workload.namespace, cluster.signal) : [];
  const closing = made.move();
  return {
    context: {
      measure: (planned, on) => explained(() => clusterTrial(place, planned, on)),
    },
    ...(guarded === null ? {} : { lost: guarded.session.signal }),
    environment: { ...environment, cluster: opened.cluster },
    programs: [imageRecord(server, 'coredns', workload.image)],
    provisioned: [],
    conditions: {
      target: 'kubernetes',
      'load generator': `builtin ${BENCH_VERSION}`,
      'connection tracking of the nodes': settings.conntrack
        ? `read on ${nodesToRead(opened.run).join(', ')}`
        : 'not read: --conntrack does, with a pod in the network of the nodes, as root',
      'DNS of the cluster': `${inPlace ? '' : 'a copy of '}${workload.title}`,
    },
    warnings: [
      ...opened.warnings,
      ...caches,
      ...(inPlace ? [] : copy.notCarriedOver.map((what) => `Not carried over to the copies: ${what}.`)),
    ],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
