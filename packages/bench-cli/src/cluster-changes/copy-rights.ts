/** The rights that copies beside the cluster's DNS take, beyond those of `bench run`. Pure. */

import type { Right } from '../kubernetes-api/access.ts';
import type { DnsWorkload } from '../targets/kubernetes/dns-copy/find-workload.ts';
import { placeOf, rightsOn } from './rights.ts';

/**
 * The role with which CoreDNS reads the cluster: of OpenShift's operator, else that of kubeadm, which most
 * clusters have kept.
 */
export function readRoleOf({ namespace }: Pick<DnsWorkload, 'namespace'>): string {
  return namespace === 'openshift-dns' ? 'openshift-dns' : 'system:coredns';
}

/** Those of reading the DNS, and the Services whose names are asked for. */
export function readRights({ path, namespace }: Pick<DnsWorkload, 'path' | 'namespace'>): Right[] {
  return [
    ...rightsOn(placeOf(path), 'get'),
    ...rightsOn({ group: '', resource: 'configmaps', namespace, name: '' }, 'get'),
    ...rightsOn({ group: '', resource: 'pods', namespace, name: '' }, 'list'),
    ...rightsOn({ group: '', resource: 'services', namespace: null, name: '' }, 'list'),
  ];
}

export function copyRights(workload: DnsWorkload, role: string): Right[] {
  const rbac = { group: 'rbac.authorization.k8s.io', namespace: null };
  return [
    ...readRights(workload),
    ...rightsOn({ ...rbac, resource: 'clusterrolebindings', name: '' }, 'create'),
    ...rightsOn({ ...rbac, resource: 'clusterroles', name: role }, 'bind'),
  ];
}
