/** Calico Enterprise: what a cluster has of it, and where its DNS policy mode and the CPU limit of its node agent stand. Pure. */
import { type Edit, editOf, type PlannedEdit } from '../../../cluster-changes/change.ts';
import { isObject, type Json, pointerOf, textAt, valueAt } from '../../../cluster-changes/json.ts';
import { rolloutOf } from '../../../cluster-changes/rollout.ts';
import { BenchError, clusterRefuses } from '../../../errors.ts';
import { parseQuantity } from '../../../quantity.ts';
import { hasMode } from '../../../tiger-bench/tests-file.ts';
import { POLICY_MODES, type PolicyMode } from '../policy/modes.ts';

export const CALICO_PATHS = {
  felix: '/apis/projectcalico.org/v3/felixconfigurations/default',
  installation: '/apis/operator.tigera.io/v1/installations/default',
  node: '/apis/apps/v1/namespaces/calico-system/daemonsets/calico-node',
  information: '/apis/projectcalico.org/v3/clusterinformations/default',
} as const;

/** By the Installation's `linuxDataplane`: the field of the FelixConfiguration. */
const FIELDS: Readonly<Record<string, string>> = {
  Iptables: 'dnsPolicyMode',
  BPF: 'bpfDNSPolicyMode',
  Nftables: 'nftablesDNSPolicyMode',
};

/** `spec` of the Installation, or what the operator made of it. */
export function linuxDataplane(installation: unknown): string {
  const place = pointerOf('calicoNetwork', 'linuxDataplane');
  const given = textAt(installation, `/spec${place}`) || textAt(installation, `/status/computed${place}`);
  return given === '' ? 'Iptables' : given;
}

/** Variants of the Installation that have policies by name. */
const ENTERPRISE = ['TigeraSecureEnterprise', 'CalicoEnterprise'];

export function isEnterprise(installation: unknown): boolean {
  return ENTERPRISE.includes(variantOf(installation));
}

function variantOf(installation: unknown): string {
  return textAt(installation, '/spec/variant') || textAt(installation, '/status/variant');
}

/**
 * @param found Objects by the paths of `CALICO_PATHS`; null for what the cluster does not have.
 * @throws BenchError `E_CLUSTER_REFUSED` that names everything that is missing.
 */
export function demandEnterprise(found: { readonly felix: unknown; readonly installation: unknown }): void {
  const missing = [
    ...(found.felix === null ? ['FelixConfiguration default (projectcalico.org/v3)'] : []),
    ...(found.installation === null ? ['Installation default (operator.tigera.io/v1)'] : []),
  ];
  if (missing.length > 0) {
    throw clusterRefuses(
      `the cluster has no Calico Enterprise: ${missing.join(' and ')} missing`,
      'DNS policy modes are a feature of Calico Enterprise; --policy cilium works with Cilium, --simulate-policy without any.',
    );
  }
  if (isEnterprise(found.installation)) return;
  const variant = variantOf(found.installation);
  throw clusterRefuses(
    `Calico here is the variant "${variant || 'Calico'}", which has no policies by DNS name`,
    'They are a feature of Calico Enterprise (variant TigeraSecureEnterprise).',
  );
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null));
}

/** The edit that sets a value at a path of keys, whose parents may be missing. */
export function settingEdit(object: unknown, keys: readonly string[], value: Json): Edit {
  const depth = keys.findIndex(
    (_, index) => !isObject(valueAt(object, pointerOf(...keys.slice(0, index + 1)))),
  );
  const at = depth < 0 ? keys.length - 1 : depth;
  const pointer = pointerOf(...keys.slice(0, at + 1));
  const after = keys.slice(at + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return { pointer, before: toJson(valueAt(object, pointer)), after };
}

/**
 * The change that sets the DNS policy mode; null if it is set already.
 * @throws BenchError `E_USAGE` for a mode that the dataplane lacks.
 */
export function modeChange(felix: unknown, installation: unknown, mode: PolicyMode): PlannedEdit | null {
  const dataplane = linuxDataplane(installation);
  const field = FIELDS[dataplane];
  const modes =
    field === undefined ? [] : POLICY_MODES.filter((each) => hasMode(dataplane.toLowerCase(), each));
  if (field === undefined || !modes.includes(mode)) {
    const known = modes.length === 0 ? 'no DNS policy modes' : modes.join(', ');
    throw new BenchError('E_USAGE', `the dataplane ${dataplane} has no DNS policy mode ${mode}`, {
      fix: `It has ${known}.`,
    });
  }
  if (textAt(felix, pointerOf('spec', field)) === mode) return null;
  const edit = settingEdit(felix, ['spec', field], mode);
  return editOf(field, { path: CALICO_PATHS.felix, title: 'FelixConfiguration default' }, felix, edit);
}

/** By the dataplane: the minor version 3.x of Calico Enterprise that has the mode Inline (tiger-bench's documentation). */
const INLINE_SINCE: Readonly<Record<string, number>> = { BPF: 20, Iptables: 21 };

/** Version of Calico Enterprise, such as `v3.21.0`; empty where the cluster does not say. */
export function enterpriseVersion(information: unknown): string {
  return textAt(information, '/spec/cnxVersion');
}

/** @throws BenchError `E_CLUSTER_REFUSED` for a mode that this version lacks; an unknown version may have it. */
export function demandVersion(information: unknown, installation: unknown, mode: PolicyMode): void {
  const dataplane = linuxDataplane(installation);
  const since = INLINE_SINCE[dataplane];
  const version = enterpriseVersion(information);
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (mode !== 'Inline' || since === undefined || major === undefined) return;
  if (Number(major) > 3 || (Number(major) === 3 && Number(minor) >= since)) return;
  throw clusterRefuses(
    `Calico Enterprise ${version} has no mode Inline with the dataplane ${dataplane}`,
    `It has it since v3.${since}: omit the mode, or measure a newer version.`,
  );
}

const CONTAINERS = ['spec', 'calicoNodeDaemonSet', 'spec', 'template', 'spec', 'containers'];
const NODE_CONTAINER = 'calico-node';

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const nodeContainer = (containers: unknown) =>
  listOf(containers).find((container) => textAt(container, '/name') === NODE_CONTAINER);

/** The list of containers with another CPU limit for calico-node; without one for `0`. */
function withLimit(containers: unknown, limit: string): Json {
  const own = nodeContainer(containers);
  const others = listOf(containers).filter((container) => container !== own);
  const resources = valueAt(own, '/resources');
  const limits = valueAt(own, '/resources/limits');
  const { cpu: _, ...rest } = isObject(limits) ? limits : {};
  const next = {
    ...(isObject(own) ? own : { name: NODE_CONTAINER }),
    resources: {
      ...(isObject(resources) ? resources : {}),
      limits: limit === '0' ? rest : { ...rest, cpu: limit },
    },
  };
  return toJson([...others, next]);
}

function cpuLimitIn(containers: unknown): string {
  // YAML makes a number of `cpu: 2`, and the Installation keeps it.
  const limit = valueAt(nodeContainer(containers), '/resources/limits/cpu');
  return typeof limit === 'string' || typeof limit === 'number' ? String(limit) : '';
}

/** The CPU limit of calico-node in the Installation; empty for none. */
export function nodeCpuLimit(installation: unknown): string {
  return cpuLimitIn(valueAt(installation, pointerOf(...CONTAINERS)));
}

/** The CPU limit with which the DaemonSet runs calico-node; empty for none. */
export function runningCpuLimit(daemonSet: unknown): string {
  return cpuLimitIn(valueAt(daemonSet, '/spec/template/spec/containers'));
}

/** Why calico-node does not run with this limit yet, empty for none; null if it does. */
export function nodeProblem(daemonSet: unknown, limit: string): string | null {
  const running = runningCpuLimit(daemonSet);
  if (parseQuantity(running) !== parseQuantity(limit)) {
    return `DaemonSet calico-node: the operator has not set the CPU limit ${limit || '(none)'} yet`;
  }
  const rollout = rolloutOf(daemonSet);
  return rollout === null ? null : `DaemonSet calico-node: ${rollout}`;
}

/** The change that limits the CPU of calico-node, `0` for no limit; null if it is so already. */
export function cpuLimitChange(installation: unknown, limit: string): PlannedEdit | null {
  if (nodeCpuLimit(installation) === (limit === '0' ? '' : limit)) return null;
  const containers = valueAt(installation, pointerOf(...CONTAINERS));
  const edit = settingEdit(installation, CONTAINERS, withLimit(containers, limit));
  const place = { path: CALICO_PATHS.installation, title: 'Installation default' };
  return editOf('CPU limit of calico-node', place, installation, edit);
}

/** Whether the components that serve policies are well, by their TigeraStatus. */
export function isAvailable(status: unknown): boolean {
  return listOf(valueAt(status, '/status/conditions')).some(
    (item) => textAt(item, '/type') === 'Available' && textAt(item, '/status') === 'True',
  );
}

/** What calico-node writes when it cannot do the mode Inline. */
export const INLINE_FALLBACK = 'Falling back to DelayDeniedPacket';
