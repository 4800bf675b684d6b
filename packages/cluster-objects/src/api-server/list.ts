/**
 * LIST: all objects of a kind, in one answer or in pages. As in a real API server, a request for resource version 0 is
 * served whole, whatever its limit: that is what reflectors ask for at first, and it decides how much memory they need.
 */
import { z } from 'zod';
import type { Items, ListHead } from '../kubernetes/encoding.ts';
import type { JsonObject, KubeObject } from '../kubernetes/object.ts';
import type { Resource } from '../kubernetes/resources.ts';
import type { ListOptions } from './request.ts';
import { badRequest, expired, type Failure } from './status.ts';
import type { Store } from './store.ts';

export interface ListAnswer extends Items {
  readonly head: ListHead;
  /** Whether no page follows. */
  readonly isEnd: boolean;
}

const tokenSchema = z.object({ version: z.number(), position: z.number() });

/** Where a page begins; null if the token is not ours. */
function readToken(token: string): z.output<typeof tokenSchema> | null {
  try {
    return tokenSchema.parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
  } catch {
    return null;
  }
}

function writeToken(version: number, position: number): string {
  return Buffer.from(JSON.stringify({ version, position })).toString('base64url');
}

/** The page's objects, and where the next page begins; null if this is the last. */
function pageOf(store: Store, resource: Resource, from: number, { limit, matches }: ListOptions) {
  const page: KubeObject[] = [];
  let next = from;
  for (const entry of store.snapshot(resource).entries(from)) {
    if (!matches(entry.object)) continue;
    if (page.length === limit) return { page, next };
    page.push(entry.object);
    next = entry.next;
  }
  return { page, next: null };
}

/** What is wrong with the version that a list asks for. */
function versionFailure(
  { version, log }: Store,
  { resourceVersion, resourceVersionMatch }: ListOptions,
): Failure | null {
  if (resourceVersion === '' || resourceVersion === '0') return null;
  const requested = Number(resourceVersion);
  if (!Number.isInteger(requested)) return badRequest(`Invalid value: "${resourceVersion}": resourceVersion`);
  // Only the present can be listed: an exact version must be the latest.
  const isUnknown = requested > version || log.after(requested) === null;
  return isUnknown || (resourceVersionMatch === 'Exact' && requested !== version)
    ? expired(requested, version)
    : null;
}

export function answerList(
  store: Store,
  resource: Resource,
  options: ListOptions,
  asListed: (object: KubeObject) => KubeObject,
): ListAnswer | Failure {
  const token = options.continueToken === '' ? null : readToken(options.continueToken);
  if (options.continueToken !== '' && token === null) return badRequest('continue key is not valid');
  if (token !== null && store.log.after(token.version) === null) return expired(token.version, store.version);
  const failure = token === null ? versionFailure(store, options) : null;
  if (failure !== null) return failure;
  const version = token?.version ?? store.version;
  const isPaged = options.limit > 0 && (token !== null || options.resourceVersion !== '0');
  const metadata: JsonObject = { resourceVersion: String(version) };
  const { matches, selection } = options;
  if (!isPaged) {
    const snapshot = store.snapshot(resource);
    const head = headOf(resource, metadata, asListed);
    const sizeKey = snapshot.isGenerated ? `${head.kind} ${resource.name} ${selection}` : null;
    const objects = function* () {
      for (const { object } of snapshot.entries()) if (matches(object)) yield asListed(object);
    };
    return { head, isEnd: true, sizeKey, [Symbol.iterator]: objects };
  }
  const { page, next } = pageOf(store, resource, token?.position ?? 0, options);
  const paged = next === null ? metadata : { ...metadata, continue: writeToken(version, next) };
  const objects = page.map(asListed);
  const head = headOf(resource, paged, asListed);
  return { head, isEnd: next === null, sizeKey: null, [Symbol.iterator]: () => objects.values() };
}

/** The list has the kind of its objects: `PodList`, or `PartialObjectMetadataList`. */
function headOf(
  { apiVersion, kind }: Resource,
  metadata: JsonObject,
  asListed: (object: KubeObject) => KubeObject,
): ListHead {
  const shape = asListed({ apiVersion, kind, metadata: { name: '', resourceVersion: '' } });
  return { apiVersion: shape.apiVersion, kind: `${shape.kind}List`, metadata };
}
