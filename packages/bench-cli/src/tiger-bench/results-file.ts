/**
 * tiger-bench's results file: a JSON array with an element for each test. What is read is kept as it stands, fields of
 * newer and older versions included, so that writing it again gives the same text. Pure.
 */
import { z } from 'zod';
import type { TigerSummary } from './summary.ts';
import type { TigerTest } from './tests-file.ts';

/** In the order of the file; empty where unknown. */
export interface ClusterDetails {
  /** `aws` by the name of the node, else `unknown`. */
  readonly Cloud: string;
  /** `kubeadm` or `unknown`. */
  readonly Provisioner: string;
  readonly NodeType: string;
  readonly NodeOS: string;
  readonly NodeKernel: string;
  readonly NodeArch: string;
  readonly NumNodes: number;
  /** `bpf`, `iptables`, `vpp`, `nftables` or `unknown`. */
  readonly Dataplane: string;
  /** `ipv4`, `ipv6` or `dual`. */
  readonly IPFamily: string;
  readonly Encapsulation: string;
  readonly WireguardEnabled: boolean;
  /** `calico`, `calient` or `unknown`. */
  readonly Product: string;
  readonly CalicoVersion: string;
  /** Of the kubelet on the first labelled node. */
  readonly K8SVersion: string;
  readonly CRIVersion: string;
  readonly CNIOption: string;
  readonly ReleaseStream: string;
}

/** Of a cluster that was not read. */
export const NO_DETAILS: ClusterDetails = {
  Cloud: '',
  Provisioner: '',
  NodeType: '',
  NodeOS: '',
  NodeKernel: '',
  NodeArch: '',
  NumNodes: 0,
  Dataplane: '',
  IPFamily: '',
  Encapsulation: '',
  WireguardEnabled: false,
  Product: '',
  CalicoVersion: '',
  K8SVersion: '',
  CRIVersion: '',
  CNIOption: '',
  ReleaseStream: '',
};

/** Times in seconds, of successful curls only. */
export interface DnsPerfResults {
  readonly LookupTime: TigerSummary;
  readonly ConnectTime: TigerSummary;
  readonly DuplicateSYN: number;
  readonly DuplicateSYNACK: number;
  readonly FailedCurls: number;
  readonly SuccessfulCurls: number;
}

/** An element that this program writes. */
export interface WrittenElement {
  readonly config: TigerTest;
  readonly ClusterDetails: ClusterDetails;
  /** Absent if the test failed before it measured. */
  readonly dnsperf?: DnsPerfResults;
  readonly error?: string;
  /** `success` exactly if there is no error. */
  readonly status: 'success' | 'failed';
}

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

/** An element as it was read: versions differ in what they write. */
export type TigerElement = z.output<typeof readElement>;

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
export function formatResults(elements: readonly (WrittenElement | TigerElement)[]): string {
  return JSON.stringify(elements, null, 2).replaceAll(ESCAPED, escaped);
}

/** What a test left: figures, or why there are none, or both if they do not count. */
export interface Outcome {
  readonly dnsperf?: DnsPerfResults;
  readonly error?: string;
}

export function elementOf(config: TigerTest, details: ClusterDetails, outcome: Outcome): WrittenElement {
  const { dnsperf, error = '' } = outcome;
  return {
    config,
    ClusterDetails: details,
    ...(dnsperf === undefined ? {} : { dnsperf }),
    ...(error === '' ? {} : { error }),
    status: error === '' ? 'success' : 'failed',
  };
}
