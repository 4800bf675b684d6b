/** The settings of commands about the DNS of a cluster: where it is, and how changes of it are journaled. */
import { z } from 'zod';
import { KUBERNETES_SETTINGS, quantity } from '../../../config/kubernetes-settings.ts';
import type { SettingTable } from '../../../config/setting.ts';
import { seconds, text, yesOrNo } from '../../../config/value-schemas.ts';

/** A shorter one would expire between two renewals on a busy machine. */
const MIN_LEASE_SECONDS = 5;
const leaseMessage = `must be a duration of at least ${MIN_LEASE_SECONDS} seconds, for example 90s or 2m`;

const workloadMessage =
  'is not NAMESPACE/KIND/NAME of a Deployment, DaemonSet or StatefulSet, for example kube-system/deployment/coredns';

/** Which DNS. */
export const DNS_CHOICE_SETTINGS = {
  workload: {
    flag: '--workload <name>',
    description: 'the workload that serves cluster DNS, NAMESPACE/KIND/NAME (default: that of the cluster)',
    schema: z
      .string(workloadMessage)
      .regex(/^[^/]+\/(?:deployment|daemonset|statefulset)\/[^/]+$/i, workloadMessage),
  },
  service: {
    flag: '--service <name>',
    rare: true,
    description: 'the Service in front of it (default: the one for its pods)',
    schema: text,
  },
} as const satisfies SettingTable;

/** For copies of it. */
export const DNS_COPY_SETTINGS = {
  container: {
    flag: '--container <name>',
    rare: true,
    description: 'the container of the workload (default: the one that serves DNS)',
    schema: text,
  },
  readRole: {
    flag: '--read-role <name>',
    rare: true,
    description: 'ClusterRole with which CoreDNS reads the cluster (default: system:coredns)',
    schema: text,
  },
} as const satisfies SettingTable;

/** For changes of the DNS itself. */
export const DNS_CHANGE_SETTINGS = {
  leaseNamespace: {
    flag: '--lease-namespace <name>',
    rare: true,
    description: 'namespace of the Lease and the journal',
    schema: text,
    default: 'kube-system',
  },
  lease: {
    flag: '--lease <time>',
    rare: true,
    description: 'the guard puts everything back after this time without a sign of life',
    schema: seconds(MIN_LEASE_SECONDS, leaseMessage),
    default: 60,
  },
  yesChangeClusterDns: {
    flag: '--yes-change-cluster-dns',
    description: 'agree that the DNS of the cluster is changed',
    schema: yesOrNo,
    default: false,
  },
} as const satisfies SettingTable;

/** Of a command that only knows clusters it is needed often. */
const { rare: _, ...CONTEXT } = KUBERNETES_SETTINGS.context;

/** Where pods of a run about the DNS are, besides those of the DNS. */
export const DNS_LOADER_SETTINGS = {
  context: CONTEXT,
  namespacePrefix: KUBERNETES_SETTINGS.namespacePrefix,
  loaderImage: {
    ...KUBERNETES_SETTINGS.loaderImage,
    description: 'image of the load generator, the guard and the canary: built from k8s/images/load',
  },
  pullPolicy: KUBERNETES_SETTINGS.pullPolicy,
  pullSecrets: KUBERNETES_SETTINGS.pullSecrets,
  loaderNode: KUBERNETES_SETTINGS.loaderNode,
  loaderTolerations: KUBERNETES_SETTINGS.loaderTolerations,
  loaderCpu: {
    ...KUBERNETES_SETTINGS.loaderCpu,
    // Neither tier nor mode is there to give what was published.
    description: 'CPU request and limit of the load generator (default: no limit)',
    schema: quantity('2'),
  },
  podLabels: KUBERNETES_SETTINGS.podLabels,
  runAsUser: KUBERNETES_SETTINGS.runAsUser,
  scheduleTime: KUBERNETES_SETTINGS.scheduleTime,
  readyTime: KUBERNETES_SETTINGS.readyTime,
} as const satisfies SettingTable;
