/** Copies of a cluster's DNS: what they have of it, and what they lack is named. */
import type { V1ConfigMap, V1Container, V1PodAffinityTerm, V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { copyRights, readRoleOf } from '../src/cluster-changes/copy-rights.ts';
import { describeRight } from '../src/cluster-changes/rights.ts';
import { KUBERNETES_DEFAULTS } from '../src/config/kubernetes-settings.ts';
import { advisedRate } from '../src/experiments/swap/rate-held.ts';
import {
  carriedEnv,
  carriedMounts,
  carriedRules,
  corefileGaps,
  corefileOf,
  mostApart,
  podGaps,
} from '../src/targets/kubernetes/dns-copy/carry-over.ts';
import type { DnsWorkload } from '../src/targets/kubernetes/dns-copy/find-workload.ts';
import {
  bindingObject,
  configMapObjects,
  copyObjects,
  READER,
} from '../src/targets/kubernetes/dns-copy/objects.ts';

const COREFILE = `.:5353 {
  errors
  kubernetes cluster.local in-addr.arpa
  forward . /etc/resolv.conf
}
`;

/** As OpenShift's DNS: sidecars, a file of the node, a variable from elsewhere, and rules on where it runs. */
const container: V1Container = {
  name: 'dns',
  image: 'coredns:1.11.3',
  command: ['coredns'],
  args: ['-conf', '/etc/coredns/Corefile'],
  ports: [{ name: 'dns', containerPort: 5353, protocol: 'UDP', hostPort: 5353 }],
  resources: { requests: { cpu: '50m', memory: '70Mi' } },
  env: [
    { name: 'GOGC', value: '50' },
    { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
  ],
  readinessProbe: { httpGet: { path: '/ready', port: 8181 } },
  volumeMounts: [
    { name: 'config-volume', mountPath: '/etc/coredns' },
    { name: 'hosts', mountPath: '/etc/hosts' },
    { name: 'tmp', mountPath: '/tmp' },
  ],
};
const spec: V1PodSpec = {
  containers: [container, { name: 'kube-rbac-proxy', image: 'proxy' }],
  volumes: [
    { name: 'config-volume', configMap: { name: 'dns-default', items: [{ key: 'conf', path: 'Corefile' }] } },
    { name: 'hosts', hostPath: { path: '/etc/hosts' } },
    { name: 'tmp', emptyDir: {} },
  ],
  dnsPolicy: 'Default',
  priorityClassName: 'system-node-critical',
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }],
};
const configMaps = new Map<string, V1ConfigMap>([
  [
    'dns-default',
    { metadata: { name: 'dns-default', namespace: 'openshift-dns' }, data: { conf: COREFILE } },
  ],
]);
const workload: DnsWorkload = {
  namespace: 'openshift-dns',
  kind: 'DaemonSet',
  name: 'dns-default',
  title: 'DaemonSet openshift-dns/dns-default',
  path: '/apis/apps/v1/namespaces/openshift-dns/daemonsets/dns-default',
  uid: 'u',
  container: 'dns',
  containerIndex: 0,
  image: 'coredns:1.11.3',
  sidecars: { 'kube-rbac-proxy': 'proxy' },
  replicas: null,
  cpuLimitCores: null,
  memoryLimitBytes: null,
  labels: { dns: 'default' },
  service: { name: 'dns-default', address: '172.30.0.10' },
  podPort: 5353,
};

describe('what cannot be carried over from a Corefile is named', () => {
  it.each([
    ['hosts /etc/coredns/NodeHosts {', ['/etc/coredns'], []],
    ['hosts /etc/hosts {', [], ['the hosts file /etc/hosts (`hosts`), which is no part of a ConfigMap']],
    [
      'file /zones/example.org example.org',
      ['/zone'],
      ['the zone file /zones/example.org (`file`), which is no part of a ConfigMap'],
    ],
    [
      'tls /certs/tls.crt /certs/tls.key',
      [],
      ['the certificate /certs/tls.crt (`tls`), which is no part of a ConfigMap'],
    ],
    ['import /etc/coredns/custom/*.override', ['/etc/coredns/custom'], []],
    [
      'import /etc/coredns/custom/*.override',
      ['/etc/other'],
      ['the imported files /etc/coredns/custom/*.override (`import`), which is no part of a ConfigMap'],
    ],
    ['bind 10.0.0.10', [], ['addresses to listen on (`bind`)']],
    ['transfer { to * }', [], ['zone transfers (`transfer`): secondary servers do not know the copies']],
    ['route53 example.org.:Z1', [], ['the account of Route 53 (`route53`)']],
    ['# hosts /etc/hosts', [], []],
    ['forward . /etc/resolv.conf', [], []],
  ])('%s', (line, directories, gaps) => {
    expect(corefileGaps(`.:53 {\n    ${line}\n}\n`, directories)).toEqual(gaps);
  });

  it('once, however many servers have it', () => {
    expect(corefileGaps('a { bind 10.0.0.1\nbind 10.0.0.2\n}', [])).toHaveLength(1);
  });
});

describe('a copy', () => {
  it('has the ConfigMaps that the container sees; other volumes are named, but for empty ones', () => {
    expect(carriedMounts(spec, container)).toEqual({
      mounts: [{ mountPath: '/etc/coredns', configMap: 'dns-default', items: { conf: 'Corefile' } }],
      gaps: ['the files in /etc/hosts (volume hosts)'],
    });
  });

  it('has variables with values; others are named', () => {
    expect(carriedEnv(container)).toEqual({ env: { GOGC: '50' }, gaps: ['the variable NODE_IP'] });
  });

  it('lacks sidecars, ports of the nodes and priority, which is named', () => {
    expect(podGaps({ ...spec, hostNetwork: true }, container)).toEqual([
      'sidecars: kube-rbac-proxy',
      'the network of the nodes (hostNetwork)',
      'ports of the nodes: 5353',
      'the priority class system-node-critical',
    ]);
  });

  it('reads the Corefile that -conf names, whatever its key is', () => {
    const { mounts } = carriedMounts(spec, container);
    expect(corefileOf(container, mounts, configMaps)).toBe(COREFILE);
    expect(corefileOf({ ...container, args: ['-conf', '/elsewhere'] }, mounts, configMaps)).toBe('');
  });

  it('runs as the DNS does: its resources, probes, nodes and files, with an account of its own and no port of the node', () => {
    const { mounts } = carriedMounts(spec, container);
    const place = {
      namespace: 'run-1',
      runId: 'r',
      settings: { ...KUBERNETES_DEFAULTS, target: 'kubernetes' as const },
      pullSecrets: [],
    };
    const env = { GOGC: '50' };
    const own = { namespace: workload.namespace, namespaceLabels: {}, labels: {} };
    const found = { workload, spec, own, container, replicas: 6, mounts, configMaps, env };
    const plan = { ...found, corefile: COREFILE, notCarriedOver: [] };
    const { deployment, service } = copyObjects(place, plan, 'coredns:1.13.1', 'dns-b-2');
    const pods = deployment.spec?.template.spec;
    const [copy] = pods?.containers ?? [];
    expect(deployment.spec?.replicas).toBe(6);
    expect(copy).toMatchObject({
      image: 'coredns:1.13.1',
      command: ['coredns'],
      args: ['-conf', '/etc/coredns/Corefile'],
      resources: { requests: { cpu: '50m', memory: '70Mi' } },
      readinessProbe: { httpGet: { path: '/ready', port: 8181 } },
      ports: [{ name: 'dns', containerPort: 5353, protocol: 'UDP' }],
    });
    expect(copy?.ports?.[0]).not.toHaveProperty('hostPort');
    expect(pods).toMatchObject({
      serviceAccountName: READER,
      dnsPolicy: 'Default',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: expect.arrayContaining(spec.tolerations ?? []),
    });
    expect(pods).not.toHaveProperty('priorityClassName');
    expect(service.spec?.ports?.map(({ port, targetPort }) => [port, targetPort])).toEqual([
      [53, 5353],
      [53, 5353],
    ]);
    expect(configMapObjects(place, plan)).toMatchObject([
      { metadata: { name: 'dns-dns-default', namespace: 'run-1' }, data: { conf: COREFILE } },
    ]);
  });

  it("has the DNS's rules on nodes, those about its own pods with its own labels", () => {
    const topologyKey = 'kubernetes.io/hostname';
    const dns = {
      namespace: 'kube-system',
      namespaceLabels: { 'kubernetes.io/metadata.name': 'kube-system' },
      labels: { 'k8s-app': 'kube-dns', tier: 'dns' },
    };
    const byName = (...values: string[]) => ({
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
    });
    const own = { labelSelector: { matchLabels: { unit: 'dns-1' } }, topologyKey };
    const carried = (term: V1PodAffinityTerm) =>
      carriedRules(
        {
          containers: [],
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
        },
        { dns, labels: { unit: 'dns-1' } },
      ).affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const expression = (operator: string, ...values: string[]) => ({
      labelSelector: { matchExpressions: [{ key: 'k8s-app', operator, values }] },
      topologyKey,
    });
    for (const term of [
      expression('In', 'kube-dns'),
      expression('NotIn', 'web'),
      expression('Exists'),
      { labelSelector: { matchLabels: { tier: 'dns' } }, topologyKey, namespaces: ['kube-system'] },
      // No labels: all namespaces. With names as well: those, too.
      { ...expression('In', 'kube-dns'), namespaceSelector: {} },
      { ...expression('In', 'kube-dns'), namespaceSelector: byName('kube-system') },
      { ...expression('In', 'kube-dns'), namespaceSelector: byName('web'), namespaces: ['kube-system'] },
    ])
      expect(carried(term)).toEqual([own]);
    // Others, which are beside the DNS, or where the rule says.
    for (const term of [expression('In', 'web'), expression('DoesNotExist')])
      expect(carried(term)).toEqual([{ ...term, namespaces: ['kube-system'] }]);
    const elsewhere = { ...expression('In', 'kube-dns'), namespaces: ['other'] };
    expect(carried(elsewhere)).toEqual([elsewhere]);
    const selected = { ...expression('In', 'kube-dns'), namespaceSelector: byName('web') };
    expect(carried(selected)).toEqual([selected]);

    const spread = { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule' };
    const labelSelector = { matchLabels: { 'k8s-app': 'kube-dns' } };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const rules = { affinity: { nodeAffinity }, topologySpreadConstraints: [{ ...spread, labelSelector }] };
    expect(carriedRules({ containers: [], ...rules }, { dns, labels: { unit: 'dns-1' } })).toEqual({
      affinity: { nodeAffinity },
      topologySpreadConstraints: [{ ...spread, labelSelector: own.labelSelector }],
    });
  });

  it('has at most as many pods as there are places apart, where the DNS must have them apart', () => {
    const dns = { namespace: 'kube-system', namespaceLabels: {}, labels: { app: 'dns' } };
    const nodes = ['a', 'a', 'b'].map((zone, index) => ({
      metadata: { labels: { zone, host: String(index) } },
    }));
    const most = (app: string, ...keys: string[]) => {
      const labelSelector = { matchLabels: { app } };
      const rules = keys.map((topologyKey) => ({ labelSelector, topologyKey }));
      const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: rules };
      return mostApart({ containers: [], affinity: { podAntiAffinity } }, dns, nodes);
    };
    expect(most('dns', 'host')).toBe(3);
    expect(most('dns', 'host', 'zone')).toBe(2);
    for (const unlimited of [most('web', 'host'), most('dns', 'rack'), most('dns')])
      expect(unlimited).toBe(Number.POSITIVE_INFINITY);
  });

  it("reads the cluster with CoreDNS's role and no other, bound until the namespace is gone", () => {
    const place = { namespace: 'run-1', runId: 'r', settings: KUBERNETES_DEFAULTS, pullSecrets: [] };
    const binding = bindingObject(place, readRoleOf(workload), 'uid-1');
    expect(binding.roleRef).toMatchObject({ kind: 'ClusterRole', name: 'openshift-dns' });
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name: READER, namespace: 'run-1' }]);
    expect(binding.metadata?.ownerReferences).toMatchObject([{ kind: 'Namespace', uid: 'uid-1' }]);
    expect(readRoleOf({ namespace: 'kube-system' })).toBe('system:coredns');
  });

  it('takes rights to read, to bind one role, and to change nothing', () => {
    const rights = copyRights(workload, 'openshift-dns').map(describeRight);
    expect(rights).toEqual([
      'get daemonsets.apps dns-default in namespace openshift-dns',
      'get configmaps in namespace openshift-dns',
      'list pods in namespace openshift-dns',
      'list services',
      'create clusterrolebindings.rbac.authorization.k8s.io',
      'bind clusterroles.rbac.authorization.k8s.io openshift-dns',
    ]);
  });
});

describe('the rate that is advised where one cannot be held', () => {
  it.each([
    [0, 0],
    [1, 0],
    [9, 7],
    [118, 94],
    [1_530, 1_200],
    [38_900, 31_000],
  ])('after %i queries a second is %i', (held, advised) => {
    expect(advisedRate(held)).toBe(advised);
  });
});
