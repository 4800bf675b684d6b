/** Policies by DNS name, in the namespace of the run: of Calico Enterprise, and of Cilium. Pure. */
import { seededRandom } from '../../../stats/random.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { unitLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { PolicyKind } from '../settings.ts';
import { SAMPLER_LABELS } from './objects.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const RANDOM_LENGTH = 10;

/** The names that the policy allows: the target, and others that nobody asks for, `count` in all and never fewer than one. */
export function policyDomains(url: string, count: number, seed: string): string[] {
  const { hostname } = new URL(url);
  const random = seededRandom(seed);
  const letter = () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'a';
  const other = () => `www.${Array.from({ length: RANDOM_LENGTH }, letter).join('')}.com`;
  return [hostname, ...Array.from({ length: Math.max(0, count - 1) }, other)];
}

/** tiger-bench's: what the pods ask, and these names. */
const calico = (domains: readonly string[]) => ({
  tier: 'default',
  order: 1,
  selector: `dep == '${SAMPLER_LABELS.dep}'`,
  types: ['Egress'],
  egress: [
    { action: 'Allow', protocol: 'UDP', destination: { ports: [53, 'dns'] } },
    { action: 'Allow', destination: { domains } },
  ],
});

const cilium = (domains: readonly string[]) => ({
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
      toFQDNs: domains.map((name) => (name.includes('*') ? { matchPattern: name } : { matchName: name })),
    },
  ],
});

/** That of Calico has the name of tiger-bench's. */
const POLICIES = {
  calico: {
    ...{ api: 'projectcalico.org/v3', kind: 'NetworkPolicy', name: 'default.zzz-perf-test-policy' },
    specOf: calico,
  },
  cilium: {
    ...{ api: 'cilium.io/v2', kind: 'CiliumNetworkPolicy', name: 'zzz-perf-test-policy' },
    specOf: cilium,
  },
} as const satisfies Record<PolicyKind, unknown>;

/** The object, and the path of its collection in the API. */
export function dnsPolicy(
  policy: PolicyKind,
  { runId, namespace, domains }: Pick<ClusterRun, 'runId' | 'namespace'> & { domains: readonly string[] },
) {
  const { api, kind, name, specOf } = POLICIES[policy];
  return {
    path: `/apis/${api}/namespaces/${namespace}/${kind.toLowerCase().replace(/y$/, 'ies')}`,
    object: {
      apiVersion: api,
      kind,
      metadata: { name, namespace, labels: unitLabels(runId, 'standing', 'dns-policy') },
      spec: specOf(domains),
    },
  };
}
