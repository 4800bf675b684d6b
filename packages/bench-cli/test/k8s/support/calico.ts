/**
 * Stand-ins for the kinds of Calico Enterprise and Cilium, without a network behind them: enough to see which settings a run
 * changes, and that it puts them back. calico-node is a real DaemonSet of pods that sleep, and `operate` is its operator.
 */
import { ApiextensionsV1Api, AppsV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import { CALICO_PATHS, nodeCpuLimit, runningCpuLimit } from '../../../src/experiments/lookup/pods/calico.ts';
import { BENCH_VERSION } from '../../../src/version.ts';
import { adminConfig, core } from './admin.ts';
import { setByOthers } from './stand-in.ts';

const extensions = () => adminConfig().makeApiClient(ApiextensionsV1Api);
const custom = () => adminConfig().makeApiClient(CustomObjectsApi);
const apps = () => adminConfig().makeApiClient(AppsV1Api);

interface StandInKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope: 'Cluster' | 'Namespaced';
}

const CALICO = { group: 'projectcalico.org', version: 'v3' } as const;
const OPERATOR = { group: 'operator.tigera.io', version: 'v1' } as const;

const KINDS: readonly StandInKind[] = [
  { ...CALICO, plural: 'felixconfigurations', kind: 'FelixConfiguration', scope: 'Cluster' },
  { ...CALICO, plural: 'networkpolicies', kind: 'NetworkPolicy', scope: 'Namespaced' },
  { ...OPERATOR, plural: 'installations', kind: 'Installation', scope: 'Cluster' },
  { ...OPERATOR, plural: 'tigerastatuses', kind: 'TigeraStatus', scope: 'Cluster' },
];
const CILIUM: StandInKind = {
  ...{ group: 'cilium.io', version: 'v2' },
  ...{ plural: 'ciliumnetworkpolicies', kind: 'CiliumNetworkPolicy', scope: 'Namespaced' },
};

const nameOf = ({ plural, group }: StandInKind) => `${plural}.${group}`;

async function createKind(kind: StandInKind): Promise<void> {
  const { group, version, plural, scope } = kind;
  await extensions().createCustomResourceDefinition({
    body: {
      metadata: { name: nameOf(kind) },
      spec: {
        group,
        scope,
        names: { plural, singular: kind.kind.toLowerCase(), kind: kind.kind },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } },
          },
        ],
      },
    },
  });
}

/** A new kind is served a moment after it was accepted. */
async function whenServed<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function createObject({ group, version, plural, kind }: StandInKind, spec: object): Promise<void> {
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'default' }, spec };
  await whenServed(() => custom().createClusterCustomObject({ group, version, plural, body }));
}

const kindOf = (kind: string): StandInKind => {
  const found = KINDS.find((candidate) => candidate.kind === kind);
  if (found === undefined) throw new Error(kind);
  return found;
};

/** What the cluster is said to have before a run. */
export const FELIX = { dnsPolicyMode: 'DelayDeniedPacket', logSeverityScreen: 'Info' } as const;
export const INSTALLATION = {
  variant: 'TigeraSecureEnterprise',
  calicoNetwork: { linuxDataplane: 'Iptables', ipPools: [{ encapsulation: 'VXLANCrossSubnet' }] },
} as const;

/** The operator's namespace, and its DaemonSet. */
const NAMESPACE = 'calico-system';
const NODE = 'calico-node';

async function createNode(): Promise<void> {
  await core().createNamespace({ body: { metadata: { name: NAMESPACE } } });
  const labels = { 'k8s-app': NODE };
  const container = {
    name: NODE,
    image: `dinodns-bench/load:${BENCH_VERSION}`,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sleep', 'infinity'],
  };
  await apps().createNamespacedDaemonSet({
    namespace: NAMESPACE,
    body: {
      metadata: { name: NODE },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [container], terminationGracePeriodSeconds: 0 },
        },
      },
    },
  });
}

/** The CPU limit of calico-node's pods; empty for none. */
export async function nodeLimit(): Promise<string> {
  return runningCpuLimit(await apps().readNamespacedDaemonSet({ name: NODE, namespace: NAMESPACE }));
}

/** Calico's operator, as far as a run needs it: gives calico-node the limit of the Installation. To be called again and again. */
export async function operate(): Promise<void> {
  const limit = nodeCpuLimit(await standIn('Installation'));
  if ((await nodeLimit()) === limit) return;
  const resources = limit === '' ? {} : { limits: { cpu: limit } };
  await setByOthers(CALICO_PATHS.node, '/spec/template/spec/containers/0/resources', resources);
}

/** A cluster with Cilium's policies, until `removeStandIns`. */
export async function installCilium(): Promise<void> {
  await createKind(CILIUM);
  await whenServed(() => policiesOf(CILIUM));
}

export async function installStandIns(): Promise<void> {
  for (const kind of KINDS) await createKind(kind);
  await createNode();
  await createObject(kindOf('FelixConfiguration'), FELIX);
  await createObject(kindOf('Installation'), INSTALLATION);
  await whenServed(standInPolicies);
}

export async function removeStandIns(): Promise<void> {
  for (const kind of [...KINDS, CILIUM]) {
    await extensions()
      .deleteCustomResourceDefinition({ name: nameOf(kind) })
      .catch(() => undefined);
  }
  await core()
    .deleteNamespace({ name: NAMESPACE })
    .catch(() => undefined);
}

export interface StandInObject {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

export async function standIn(kind: 'FelixConfiguration' | 'Installation'): Promise<StandInObject> {
  const { group, version, plural } = kindOf(kind);
  return await custom().getClusterCustomObject({ group, version, plural, name: 'default' });
}

/** What the Installation says of its dataplane from now on. */
export async function setDataplane(linuxDataplane: string): Promise<void> {
  await setByOthers(CALICO_PATHS.installation, '/spec/calicoNetwork/linuxDataplane', linuxDataplane);
}

/** Of all namespaces. */
async function policiesOf({ group, version, plural }: StandInKind): Promise<StandInObject[]> {
  const list: { items: StandInObject[] } = await custom().listCustomObjectForAllNamespaces({
    ...{ group, version, resourcePlural: plural },
  });
  return list.items;
}

export const standInPolicies = () => policiesOf(kindOf('NetworkPolicy'));
export const ciliumPolicies = () => policiesOf(CILIUM);
