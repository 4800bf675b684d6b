/** A cluster as tiger-bench describes it in its results. What cannot be read is as it writes it when it does not know. */

import { isIP } from 'node:net';
import type { V1Node } from '@kubernetes/client-node';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import { textAt, valueAt } from '../../../cluster-changes/json.ts';
import { goArchitecture } from '../../../text.ts';
import { type ClusterDetails, DETAILS, detailsFrom, NO_DETAILS } from '../../../tiger-bench/results-file.ts';
import type { LookupRecord } from '../evidence.ts';
import { CALICO_PATHS, isEnterprise, linuxDataplane } from './calico.ts';

const UNKNOWN = 'unknown';
/** kubeadm leaves it on every node. */
const KUBEADM = 'kubeadm.alpha.kubernetes.io/cri-socket';

function cloudOf(node: V1Node | undefined): string {
  const name = node?.metadata?.name ?? '';
  return name.includes('ip') && name.includes('compute.internal') ? 'aws' : UNKNOWN;
}

function familyOf(node: V1Node | undefined): string {
  const ranges = node?.spec?.podCIDRs ?? [node?.spec?.podCIDR ?? ''];
  const versions = new Set(ranges.map((range) => isIP(range.split('/')[0] ?? '')));
  if (versions.has(4) && versions.has(6)) return 'dual';
  return versions.has(6) ? 'ipv6' : 'ipv4';
}

function productOf(installation: unknown): string {
  if (installation === null) return UNKNOWN;
  return isEnterprise(installation) ? 'calient' : 'calico';
}

/** Of what was found. `node`: the first with a sampler pod. Pure. */
export function detailsOf({
  nodes,
  node,
  installation,
  felix,
  information,
}: Readonly<Record<'installation' | 'felix' | 'information', unknown>> & {
  readonly nodes: readonly V1Node[];
  readonly node: V1Node | undefined;
}): ClusterDetails {
  const info = node?.status?.nodeInfo;
  return {
    Cloud: cloudOf(node),
    Provisioner: node?.metadata?.annotations?.[KUBEADM] === undefined ? UNKNOWN : 'kubeadm',
    NodeType: info?.operatingSystem ?? '',
    NodeOS: info?.osImage ?? '',
    NodeKernel: info?.kernelVersion ?? '',
    NodeArch: info?.architecture ?? '',
    NumNodes: nodes.length,
    Dataplane: installation === null ? UNKNOWN : linuxDataplane(installation).toLowerCase(),
    IPFamily: familyOf(node),
    Encapsulation: textAt(installation, '/spec/calicoNetwork/ipPools/0/encapsulation'),
    WireguardEnabled: valueAt(felix, '/spec/wireguardEnabled') === true,
    Product: productOf(installation),
    CalicoVersion: textAt(information, '/spec/calicoVersion'),
    K8SVersion: info?.kubeletVersion ?? '',
    CRIVersion: info?.containerRuntimeVersion ?? '',
    CNIOption: textAt(installation, '/spec/cni/type'),
    // Nobody but the user knows.
    ReleaseStream: '',
  };
}

/** Conditions of a record, without what is not known. */
export function conditionsOfDetails(details: ClusterDetails): Record<string, string> {
  const known = Object.entries(DETAILS).flatMap(([name, { title }]) => {
    const value = details[name as keyof ClusterDetails];
    const word = value === true ? 'yes' : String(value);
    return value === false || word === '' || word === UNKNOWN ? [] : [[title, word]];
  });
  return Object.fromEntries(known);
}

/** The cluster of a record; of a run on a machine, what there is of that. */
export function detailsOfRecord({
  conditions,
  environment: { os, kernel, architecture },
}: Pick<LookupRecord, 'conditions' | 'environment'>): ClusterDetails {
  return {
    ...NO_DETAILS,
    ...{ Cloud: UNKNOWN, Provisioner: UNKNOWN, Dataplane: UNKNOWN, Product: UNKNOWN, IPFamily: 'ipv4' },
    ...{ NodeType: 'linux', NodeOS: os, NodeKernel: kernel, NodeArch: goArchitecture(architecture) },
    ...detailsFrom((title, none) => {
      const word = conditions[title];
      if (word === undefined) return undefined;
      return typeof none === 'number' ? Number(word) : typeof none === 'boolean' ? word === 'yes' : word;
    }),
  };
}

/** Null for what there is not, and for what this user may not read: it is only for the record. */
async function readOptional(api: ClusterApi, path: string): Promise<unknown> {
  const { status, body } = await api.send({ method: 'GET', path });
  return status < 300 ? body : null;
}

export async function readClusterDetails(
  api: ClusterApi,
  nodes: readonly V1Node[],
  samplerNodes: readonly string[],
): Promise<ClusterDetails> {
  const found = {
    nodes,
    node: nodes.find(({ metadata }) => metadata?.name === samplerNodes[0]),
    installation: await readOptional(api, CALICO_PATHS.installation),
    felix: await readOptional(api, CALICO_PATHS.felix),
    information: await readOptional(api, CALICO_PATHS.information),
  };
  return detailsOf(found);
}
