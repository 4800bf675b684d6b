/**
 * tiger-bench's results file: a JSON array with an element for each test. What is read is kept as it stands, fields of
 * newer and older versions included, so that writing it again gives the same text. Pure.
 */
import { z } from 'zod';
import type { TigerTest } from './tests-file.ts';

/** In the order of the file: what people call it, and what is written of a cluster that was not read. */
export const DETAILS = {
  /** `aws` by the name of the node, else `unknown`. */
  Cloud: { title: 'cloud', none: '' },
  /** `kubeadm` or `unknown`. */
  Provisioner: { title: 'provisioner', none: '' },
  NodeType: { title: 'node type', none: '' },
  NodeOS: { title: 'operating system', none: '' },
  NodeKernel: { title: 'kernel', none: '' },
  NodeArch: { title: 'architecture', none: '' },
  NumNodes: { title: 'nodes', none: 0 },
  /** `bpf`, `iptables`, `vpp`, `nftables` or `unknown`. */
  Dataplane: { title: 'dataplane', none: '' },
  /** `ipv4`, `ipv6` or `dual`. */
  IPFamily: { title: 'IP family', none: '' },
  Encapsulation: { title: 'encapsulation', none: '' },
  WireguardEnabled: { title: 'WireGuard', none: false },
  /** `calico`, `calient` or `unknown`. */
  Product: { title: 'product', none: '' },
  CalicoVersion: { title: 'Calico version', none: '' },
  /** Of the kubelet on the first labelled node. */
  K8SVersion: { title: 'Kubernetes version', none: '' },
  CRIVersion: { title: 'container runtime', none: '' },
  CNIOption: { title: 'network plugin', none: '' },
  ReleaseStream: { title: 'release stream', none: '' },
};
type Detail = keyof typeof DETAILS;
export type ClusterDetails = { readonly [D in Detail]: (typeof DETAILS)[D]['none'] };

/** The details of which `of` knows something; undefined where it does not. */
export function detailsFrom(
  of: (title: string, none: unknown, name: Detail) => unknown,
): Partial<ClusterDetails> {
  const known = Object.entries(DETAILS).flatMap(([name, { title, none }]) => {
    const value = of(title, none, name as Detail);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(known);
}

export const NO_DETAILS = detailsFrom((_, none) => none) as ClusterDetails;

/** Times in seconds. tiger-bench omits zero values, so that of nothing is `{}`; `unit` is never set for dnsperf. */
const summary = z.looseObject({
  min: z.number().optional(),
  max: z.number().optional(),
  avg: z.number().optional(),
  P50: z.number().optional(),
  P75: z.number().optional(),
  P90: z.number().optional(),
  P99: z.number().optional(),
  unit: z.string().optional(),
  datapoints: z.int().optional(),
});

const readElement = z.looseObject({
  config: z.looseObject({
    TestKind: z.string(),
    Dataplane: z.string().optional(),
    NumPolicies: z.number().optional(),
    HostNetwork: z.boolean().optional(),
    Duration: z.number().optional(),
    CalicoNodeCPULimit: z.string().optional(),
    DNSPerf: z
      .looseObject({ Mode: z.string().optional(), TargetURL: z.string().optional() })
      .nullable()
      .optional(),
  }),
  ClusterDetails: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  dnsperf: z
    .looseObject({
      LookupTime: summary.optional(),
      ConnectTime: summary.optional(),
      DuplicateSYN: z.int().optional(),
      DuplicateSYNACK: z.int().optional(),
      FailedCurls: z.int().optional(),
      SuccessfulCurls: z.int().optional(),
    })
    .optional(),
  error: z.string().optional(),
  status: z.string().optional(),
});

/** Versions differ in what they write. */
export type TigerElement = z.output<typeof readElement>;
/** Of successful curls only. */
export type DnsPerfResults = NonNullable<TigerElement['dnsperf']>;
export type TigerSummary = z.output<typeof summary>;

function isElement(value: unknown): value is TigerElement {
  return readElement.safeParse(value).success;
}

/** @throws Error that says what is wrong with the file. */
export function parseResults(content: string): TigerElement[] {
  const elements: unknown = JSON.parse(content);
  if (!Array.isArray(elements)) throw new Error('it is not a list of tests');
  return elements.map((element, index) => {
    // The value itself is kept: zod would put fields that it does not know last.
    if (isElement(element)) return element;
    const issue = readElement.safeParse(element).error?.issues[0];
    const place = [index, ...(issue?.path ?? [])].join('.');
    throw new Error(`element ${place}: ${issue?.message ?? 'it is not a test'}`);
  });
}

/** Go's JSON escapes what HTML gives a meaning, and two line separators. */
const ESCAPED = /[<>&\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** The text of a results file: as tiger-bench writes it, with two spaces and without a line break at its end. */
export function formatResults(elements: readonly TigerElement[]): string {
  return JSON.stringify(elements, null, 2).replaceAll(ESCAPED, escaped);
}

/** What a test left: figures, or why there are none, or both if they do not count. */
export function elementOf(
  config: TigerTest,
  details: ClusterDetails,
  { dnsperf, error = '' }: { readonly dnsperf?: DnsPerfResults; readonly error?: string },
): TigerElement {
  return {
    config,
    ClusterDetails: details,
    ...(dnsperf === undefined ? {} : { dnsperf }),
    ...(error === '' ? {} : { error }),
    status: error === '' ? 'success' : 'failed',
  };
}
