/**
 * The addresses of a laboratory: a /22 of 198.18.0.0/15, which RFC 2544 sets aside for benchmarks, and a /48 of unique
 * local IPv6 addresses (RFC 4193). Several runs on one machine have different ones.
 */

/** Runs at the same time that find an address of their own. */
export const LAB_NETWORKS = 64;

/** Names of a network without the two at its ends. */
const ROTATING = 250;

export function labAddresses(index: number) {
  const v4 = (third: number, fourth: number) => `198.18.${4 * index + third}.${fourth}`;
  // The site is not on the link between pod and node: the node would not answer for its address there.
  const v6 = (network: 'link' | 'site', host: number) =>
    `fd62:656e:6368:${(2 * index + (network === 'link' ? 0 : 1)).toString(16)}::${host}`;
  return {
    /** The network between pod and node; routed from the machine's own namespace, so that bench reaches resolvers. */
    podNetwork: `${v4(0, 0)}/24`,
    node: v4(0, 1),
    pod: v4(0, 2),
    /** Of the resolver with this number, from 0. */
    resolver: (number: number) => v4(0, 53 + number),
    /** Where the site answers, with or without simulated policy. */
    site: { ipv4: v4(1, 1), ipv6: v6('site', 1) },
    node6: v6('link', 1),
    pod6: v6('link', 2),
    /** Addresses of the site that a simulated agent gives out in turn, and their network. */
    rotating: {
      network: `${v4(2, 0)}/24`,
      addresses: Array.from({ length: ROTATING }, (_, number) => v4(2, number + 1)),
    },
    /** Between node and site. */
    siteLink: { node: v4(3, 1), site: v4(3, 2) },
    /** Between the machine's own namespace and the node. */
    bench: { machine: v4(3, 129), node: v4(3, 130) },
  };
}
export type LabAddresses = Readonly<ReturnType<typeof labAddresses>>;
