/** Rights on single objects, asked for before anything is changed. */
import { BenchError } from '../errors.ts';
import { describeAccess, missingRights, type Right } from '../kubernetes-api/access.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';

/** An object of the API, or a collection: for rights on exactly that. */
export type Place = Omit<Right, 'verb'>;

/** `/apis/apps/v1/namespaces/kube-system/deployments/coredns` → its parts. */
export function placeOf(path: string): Place {
  const [root, ...rest] = path.split('/').slice(1);
  const [group, keys] = root === 'api' ? ['', rest.slice(1)] : [rest[0] ?? '', rest.slice(2)];
  const namespaced = keys[0] === 'namespaces' && keys.length > 2;
  const [resource = '', name = ''] = namespaced ? keys.slice(2) : keys;
  return { group, resource, namespace: namespaced ? (keys[1] ?? '') : null, name };
}

export function rightsOn(place: Place, ...verbs: readonly string[]): Right[] {
  return verbs.map((verb) => ({ ...place, verb }));
}

/** `patch deployments.apps coredns in namespace kube-system`. */
export function describeRight(right: Right): string {
  const { name, namespace } = right;
  return `${describeAccess(right)}${name === '' ? '' : ` ${name}`}${namespace === null ? '' : ` in namespace ${namespace}`}`;
}

/**
 * @param role The file that grants them, for the fix.
 * @throws BenchError `E_CLUSTER_FORBIDDEN` that names every right that is missing.
 */
export async function demandRights(
  client: KubeClient,
  rights: readonly Right[],
  role: string,
  signal: AbortSignal,
): Promise<void> {
  const missing = await missingRights(client, rights, signal);
  if (missing.length === 0) return;
  throw new BenchError(
    'E_CLUSTER_FORBIDDEN',
    `this user may not ${missing.map(describeRight).join(', ')} on ${client.context}`,
    { fix: `Apply ${role} and bind its role to this user. Nothing was changed.` },
  );
}
