/**
 * A cluster for `bench disrupt`: a namespace of the run, in which copies of the cluster's DNS are disrupted. Nodes and the DNS
 * itself are changed under a journal, and a guard puts them back if this process cannot.
 */

import { demandRest } from '../../../cluster-changes/at-rest.ts';
import { demandConsent, openChangeable } from '../../../cluster-changes/changeable.ts';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import { copyRights, readRights } from '../../../cluster-changes/copy-rights.ts';
import { explained } from '../../../cluster-changes/explain.ts';
import { type Guarded, openGuardedCluster } from '../../../cluster-changes/guarded.ts';
import { faultRights, rollingInPlace } from '../../../cluster-changes/pod-faults.ts';
import { kubernetesOf } from '../../../config/kubernetes-settings.ts';
import type { Measuring, Opened, OpenRequest } from '../../../engine/experiment.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import { imageRecord } from '../../../servers/image-record.ts';
import { loadServers } from '../../../servers/load.ts';
import { clusterWorkload } from '../../../targets/kubernetes/cluster-workloads.ts';
import { demandConntrack, nodesToRead } from '../../../targets/kubernetes/conntrack.ts';
import { uploadBeside } from '../../../targets/kubernetes/dns-copy/beside.ts';
import { prepareCopies } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import { copyAt } from '../../../targets/kubernetes/dns-copy/variants.ts';
import { imagesOf } from '../../../targets/kubernetes/images.ts';
import { namespaceOf } from '../../../targets/kubernetes/objects/labels.ts';
import type { OpenedCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { BENCH_VERSION } from '../../../version.ts';
import { writeQueryFile } from '../../../workload/load-workload.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { DisruptEvidence } from '../evidence.ts';
import type { DisruptSettings } from '../settings.ts';
import { type ClusterPlace, clusterTrial, type DecidedCluster } from './trial.ts';

type Request = OpenRequest<DisruptSettings, DecidedCluster>;

const ROLE_FILE = 'k8s/rbac.yaml';

async function placeIn(
  { world, settings, decided, directory }: Request,
  { run }: OpenedCluster,
  api: ClusterApi,
  guarded: Guarded | null,
  signal: AbortSignal,
): Promise<ClusterPlace> {
  const { copy, role, server: name } = decided;
  const { lameduck = [undefined] } = settings.factors;
  const copies = lameduck.map((seconds) =>
    copyAt(copy, seconds === undefined ? {} : { lameduck: Number(seconds) }),
  );
  if (!settings.inPlace) await prepareCopies(run, role, copies, signal);
  const workload = await clusterWorkload(run.client, 'service', signal, ['default', copy.workload.namespace]);
  const queryFile = `${directory}/queries.txt`;
  await writeQueryFile(world, queryFile, workload);
  const [server] = await loadServers(world, ['coredns'], settings);
  if (server === undefined) throw new Error('no server');
  return {
    ...{ run, api, copy, settings, workload, queryFile, guarded, signal },
    beside: await uploadBeside(run, signal),
    roll: settings.inPlace && guarded !== null ? await rollingInPlace(api, copy.workload, guarded) : null,
    protectedPaths: decided.changedPaths,
    loader: createBuiltinJob(run, BENCH_VERSION),
    server: { ...server, name },
    zoneSet: zoneSetOf(1, ['A']),
    rawDirectory: `${directory}/raw`,
  };
}

/**
 * @throws BenchError `E_USAGE` without consent, `E_CLUSTER_FORBIDDEN` that names every missing right; in both cases before
 * anything is created
 */
export async function openOnCluster(request: Request): Promise<Opened<Measuring<DisruptEvidence>>> {
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
  const place = await placeIn(request, opened, api, guarded, cluster.signal);
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
      ...(inPlace ? [] : copy.notCarriedOver.map((what) => `Not carried over to the copies: ${what}.`)),
    ],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
