/** DNAME records in a plan: which names they redirect, and where to (RFC 6672). Names are relative to the zone. */
import type { Plan, PlannedRecord } from './plan.ts';

export type Redirection = PlannedRecord & { readonly type: 'DNAME' };

/** The ancestors of a name, from its parent to the apex, `@`. */
function* namesAbove(owner: string): Generator<string, void, void> {
  if (owner === '@') return;
  for (let dot = owner.indexOf('.'); dot !== -1; dot = owner.indexOf('.', dot + 1))
    yield owner.slice(dot + 1);
  yield '@';
}

/** The topmost DNAME record above a name. A DNAME record does not redirect its own owner name. */
export function redirectionOf({ owners }: Plan, owner: string): Redirection | undefined {
  let topmost: Redirection | undefined;
  for (const above of namesAbove(owner)) {
    const record = owners.get(above)?.get('DNAME')?.[0];
    if (record?.type === 'DNAME') topmost = record;
  }
  return topmost;
}

/** The CNAME record that is synthesised from a DNAME record for a name below it. */
export function aliasOf(redirection: Redirection, owner: string): PlannedRecord & { readonly type: 'CNAME' } {
  const { name, ttl, data } = redirection;
  const prefix = name === '@' ? owner : owner.slice(0, -name.length - 1);
  return { name: owner, ttl, type: 'CNAME', data: data === '.' ? prefix : `${prefix}.${data}` };
}
