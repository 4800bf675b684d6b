/** What a path of the API says about its object: for rights on exactly this object. Pure. */

export interface Place {
  readonly group: string;
  readonly resource: string;
  /** Null for an object of the whole cluster. */
  readonly namespace: string | null;
  /** Empty for a collection. */
  readonly name: string;
}

/** `/apis/apps/v1/namespaces/kube-system/deployments/coredns` → its parts. */
export function placeOf(path: string): Place {
  const [root, ...rest] = path.split('/').slice(1);
  const [group, keys] = root === 'api' ? ['', rest.slice(1)] : [rest[0] ?? '', rest.slice(2)];
  const namespaced = keys[0] === 'namespaces' && keys.length > 2;
  const [resource = '', name = ''] = namespaced ? keys.slice(2) : keys;
  return { group, resource, namespace: namespaced ? (keys[1] ?? '') : null, name };
}
