/** Policies by DNS name, in the namespace of the run: of Calico Enterprise, and of Cilium. Pure. */
import { isIP } from 'node:net';
import { BenchError } from '../../../errors.ts';
import { seededRandom } from '../../../stats/random.ts';
import { unitLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { PolicyKind } from '../settings.ts';
import { SAMPLER_LABELS } from './objects.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const RANDOM_LENGTH = 10;

/**
 * The names that the policy allows: the target, and others that nobody asks for, `count` in all and never fewer than one.
 * @throws BenchError `E_USAGE` for a URL with an address.
 */
export function policyDomains(url: string, count: number, seed: string): string[] {
  const { hostname } = new URL(url);
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (hostname === '' || isIP(bare) !== 0) {
    throw new BenchError('E_USAGE', `--url: ${url} has an address; a DNS policy needs a name`, {
      fix: 'Give a URL with a name, for example http://www.example.com.',
    });
  }
  const random = seededRandom(seed);
  const letter = () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'a';
  const other = () => `www.${Array.from({ length: RANDOM_LENGTH }, letter).join('')}.com`;
  return [hostname, ...Array.from({ length: Math.max(0, count - 1) }, other)];
}

export interface PolicyRequest {
  readonly runId: string;
  readonly namespace: string;
  readonly domains: readonly string[];
}

export interface PolicyObject {
  /** Of the API: of the collection. */
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** tiger-bench's policy, under its name. */
const CALICO_POLICY = 'default.zzz-perf-test-policy';

const metadataOf = (name: string, { runId, namespace }: PolicyRequest) => ({
  ...{ name, namespace, labels: unitLabels(runId, 'standing', 'dns-policy') },
});

function calicoPolicy(request: PolicyRequest): PolicyObject {
  const { namespace, domains } = request;
  const api = 'projectcalico.org/v3';
  return {
    path: `/apis/${api}/namespaces/${namespace}/networkpolicies`,
    object: {
      apiVersion: api,
      kind: 'NetworkPolicy',
      metadata: metadataOf(CALICO_POLICY, request),
      spec: {
        tier: 'default',
        order: 1,
        selector: `dep == '${SAMPLER_LABELS.dep}'`,
        types: ['Egress'],
        egress: [
          { action: 'Allow', protocol: 'UDP', destination: { ports: [53, 'dns'] } },
          { action: 'Allow', destination: { domains } },
        ],
      },
    },
  };
}

function ciliumPolicy(request: PolicyRequest): PolicyObject {
  const { namespace, domains } = request;
  const api = 'cilium.io/v2';
  return {
    path: `/apis/${api}/namespaces/${namespace}/ciliumnetworkpolicies`,
    object: {
      apiVersion: api,
      kind: 'CiliumNetworkPolicy',
      metadata: metadataOf('zzz-perf-test-policy', request),
      spec: {
        endpointSelector: { matchLabels: { dep: SAMPLER_LABELS.dep } },
        egress: [
          {
            // Cilium learns addresses from the answers that its DNS proxy sees: so the queries must pass through it.
            toEndpoints: [
              { matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'kube-system', 'k8s-app': 'kube-dns' } },
            ],
            toPorts: [{ ports: [{ port: '53', protocol: 'ANY' }], rules: { dns: [{ matchPattern: '*' }] } }],
          },
          {
            toFQDNs: domains.map((name) =>
              name.includes('*') ? { matchPattern: name } : { matchName: name },
            ),
          },
        ],
      },
    },
  };
}

export function dnsPolicy(kind: PolicyKind, request: PolicyRequest): PolicyObject {
  return kind === 'calico' ? calicoPolicy(request) : ciliumPolicy(request);
}
