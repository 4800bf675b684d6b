/**
 * The Lease of a run that changes a cluster: one run at a time, and proof of life for the guard.
 * Needs nothing: the guard runs this file, too.
 */
import { type ClusterApi, create, read, remove, replace } from './cluster-api.ts';
import { isObject, textAt, valueAt } from './json.ts';

export const LEASE_NAME = 'dinodns-bench-changes';

export interface Lease {
  readonly holder: string;
  readonly durationSeconds: number;
  /** As the holder wrote it; its clock may differ from ours. */
  readonly renewedAt: string;
  readonly object: Readonly<Record<string, unknown>>;
}

const collection = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const pathOf = (namespace: string) => `${collection(namespace)}/${LEASE_NAME}`;

/** Times of a Lease have microseconds. */
const microTime = (now: Date) => now.toISOString().replace(/Z$/, '000Z');

function leaseOf(object: unknown): Lease {
  const seconds = valueAt(object, '/spec/leaseDurationSeconds');
  return {
    holder: textAt(object, '/spec/holderIdentity'),
    durationSeconds: typeof seconds === 'number' ? seconds : 0,
    renewedAt: textAt(object, '/spec/renewTime'),
    object: isObject(object) ? object : {},
  };
}

/** Null if nobody has it. */
export async function readLease(api: ClusterApi, namespace: string): Promise<Lease | null> {
  const object = await read(api, pathOf(namespace));
  return object === null ? null : leaseOf(object);
}

export interface LeaseRequest {
  readonly holder: string;
  readonly durationSeconds: number;
  readonly now: Date;
  readonly labels: Readonly<Record<string, string>>;
}

function specOf({ holder, durationSeconds, now }: Omit<LeaseRequest, 'labels'>) {
  return { holderIdentity: holder, leaseDurationSeconds: durationSeconds, renewTime: microTime(now) };
}

/** Null if there is one already. */
export async function createLease(
  api: ClusterApi,
  namespace: string,
  request: LeaseRequest,
): Promise<Lease | null> {
  const { labels, now } = request;
  const object = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: LEASE_NAME, namespace, labels },
    spec: { ...specOf(request), acquireTime: microTime(now) },
  };
  const created = await create(api, collection(namespace), object);
  if (created !== null) return leaseOf(created);
  const found = await readLease(api, namespace);
  return found?.holder === request.holder ? found : null;
}

/** Renews it, or takes it over for another holder. Null if somebody else was faster. */
export async function renewLease(
  api: ClusterApi,
  namespace: string,
  lease: Lease,
  request: Omit<LeaseRequest, 'labels'>,
): Promise<Lease | null> {
  const written = await replace(api, pathOf(namespace), { ...lease.object, spec: specOf(request) });
  if (written !== null) return leaseOf(written);
  const found = await readLease(api, namespace);
  // The answer to the first attempt was lost, but it counted.
  return found?.holder === request.holder ? found : null;
}

/** Unless somebody else has written it since it was read. */
export async function removeLease(api: ClusterApi, namespace: string, { object }: Lease): Promise<void> {
  await remove(api, pathOf(namespace), textAt(object, '/metadata/resourceVersion'));
}
