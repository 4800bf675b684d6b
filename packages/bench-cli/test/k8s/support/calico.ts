/**
 * Stand-ins for the kinds of Calico Enterprise, without a program behind them: enough to see which settings a run changes,
 * and that it puts them back.
 */
import { ApiextensionsV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import { adminConfig } from './admin.ts';

const extensions = () => adminConfig().makeApiClient(ApiextensionsV1Api);
const custom = () => adminConfig().makeApiClient(CustomObjectsApi);

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

export async function installStandIns(): Promise<void> {
  for (const kind of KINDS) await createKind(kind);
  await createObject(kindOf('FelixConfiguration'), FELIX);
  await createObject(kindOf('Installation'), INSTALLATION);
  const { group, version, plural } = kindOf('NetworkPolicy');
  await whenServed(() =>
    custom().listCustomObjectForAllNamespaces({ group, version, resourcePlural: plural }),
  );
}

export async function removeStandIns(): Promise<void> {
  for (const kind of KINDS) {
    await extensions()
      .deleteCustomResourceDefinition({ name: nameOf(kind) })
      .catch(() => undefined);
  }
}

export interface StandInObject {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

export async function standIn(kind: 'FelixConfiguration' | 'Installation'): Promise<StandInObject> {
  const { group, version, plural } = kindOf(kind);
  return await custom().getClusterCustomObject({ group, version, plural, name: 'default' });
}

/** Of all namespaces. */
export async function standInPolicies(): Promise<StandInObject[]> {
  const { group, version, plural } = kindOf('NetworkPolicy');
  const list: { items: StandInObject[] } = await custom().listCustomObjectForAllNamespaces({
    ...{ group, version, resourcePlural: plural },
  });
  return list.items;
}
