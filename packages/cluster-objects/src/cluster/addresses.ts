/**
 * Addresses by index. Services have addresses of 10.96.0.0/12, kubeadm's default range; each node has a /24 of
 * 10.128.0.0/9 with room for 110 pods, the kubelet's default; nodes are in 172.16.0.0/12. The IPv6 ranges are unique
 * local addresses (RFC 4193).
 */

/** The kubelet's default `maxPods`. */
export const PODS_PER_NODE = 110;

/** The first addresses of the range belong to `kubernetes`, the cluster's DNS and others. */
const RESERVED_SERVICE_ADDRESSES = 256;
/** The network, and the node's bridge. */
const RESERVED_POD_ADDRESSES = 2;

const SERVICES_V4 = dottedToNumber(10, 96);
const PODS_V4 = dottedToNumber(10, 128);
const NODES_V4 = dottedToNumber(172, 16);

/** The number of an IPv4 address that begins with these bytes and ends with zeros. */
export function dottedToNumber(first: number, second: number): number {
  return first * 2 ** 24 + second * 2 ** 16;
}

export function dotted(value: number): string {
  return [value / 2 ** 24, value / 2 ** 16, value / 2 ** 8, value]
    .map((part) => Math.floor(part) % 256)
    .join('.');
}

export const nodeOfPod = (pod: number): number => Math.floor(pod / PODS_PER_NODE);

/** The addresses of something, IPv4 first; IPv6 too in a dual-stack cluster. */
export type Addresses = readonly string[];

export function serviceAddresses(service: number, dualStack: boolean): Addresses {
  const number = RESERVED_SERVICE_ADDRESSES + service;
  const v4 = dotted(SERVICES_V4 + number);
  return dualStack ? [v4, `fd00:10:96::${groups(number)}`] : [v4];
}

export function podAddresses(pod: number, dualStack: boolean): Addresses {
  const node = nodeOfPod(pod);
  const host = RESERVED_POD_ADDRESSES + (pod % PODS_PER_NODE);
  const v4 = dotted(PODS_V4 + node * 256 + host);
  return dualStack ? [v4, `fd00:10:128:${(node + 1).toString(16)}::${host.toString(16)}`] : [v4];
}

/** The last 32 bits as RFC 5952 writes them: one group if the upper one is zero. */
export function groups(number: number): string {
  const upper = Math.floor(number / 2 ** 16);
  const lower = (number % 2 ** 16).toString(16);
  return upper === 0 ? lower : `${upper.toString(16)}:${lower}`;
}

export function nodeAddress(node: number): string {
  return dotted(NODES_V4 + 256 + node);
}
