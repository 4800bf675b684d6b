/** What a request asks for: the resource, the verb and the options of `ListOptions`. */
import { type Encoding, JSON_ENCODING } from '../kubernetes/encoding.ts';
import type { KubeObject } from '../kubernetes/object.ts';
import { RESOURCES, type Resource } from '../kubernetes/resources.ts';
import { type Matcher, matcherOf } from './selectors.ts';

export interface ResourceRequest {
  readonly resource: Resource;
  readonly namespace: string | null;
  /** One object; null for all. */
  readonly name: string | null;
}

const PATH =
  /^\/(?:api\/v1|apis\/(?<group>[^/]+)\/v1)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<resource>[a-z]+)(?:\/(?<name>[^/]+))?$/;

/** The resource of a path; null if the API has none there. */
export function resourceOf(path: string): ResourceRequest | null {
  const groups = PATH.exec(path)?.groups;
  const find = (wanted = '', group = '') =>
    RESOURCES.find((resource) => resource.name === wanted && resource.group === group);
  // `/api/v1/namespaces/team-001` is a namespace and not something in it.
  const single = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path)?.[1];
  if (single !== undefined) {
    const resource = find('namespaces');
    return resource === undefined ? null : { resource, namespace: null, name: single };
  }
  const resource = find(groups?.resource, groups?.group);
  const namespace = groups?.namespace ?? null;
  if (resource === undefined || (namespace !== null && !resource.namespaced)) return null;
  return { resource, namespace, name: groups?.name ?? null };
}

export interface ListOptions {
  readonly watch: boolean;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  /** As it is in the request; empty if it is not. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 without a limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** After which a watch ends; null if the request does not say. */
  readonly timeoutSeconds: number | null;
  readonly matches: Matcher;
  /** Both selectors and the namespace, to recognise the same list. */
  readonly selection: string;
}

/** @throws SelectorError */
export function listOptionsOf(query: URLSearchParams, namespace: string | null): ListOptions {
  const text = (name: string) => query.get(name) ?? '';
  const isSet = (name: string) => ['1', 'true'].includes(text(name));
  const timeout = Number(text('timeoutSeconds'));
  const [labels, fields] = [text('labelSelector'), text('fieldSelector')];
  return {
    watch: isSet('watch'),
    allowBookmarks: isSet('allowWatchBookmarks'),
    sendInitialEvents: isSet('sendInitialEvents'),
    resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'),
    limit: Math.max(0, Math.floor(Number(text('limit')) || 0)),
    continueToken: text('continue'),
    timeoutSeconds: timeout > 0 ? timeout : null,
    matches: matcherOf(labels, fields, namespace),
    selection: JSON.stringify([labels, fields, namespace]),
  };
}

export interface Accepted {
  readonly encoding: Encoding;
  /** What the answer has of an object: all of it, or only its type and metadata. */
  asListed(object: KubeObject): KubeObject;
}

const asItIs = (object: KubeObject): KubeObject => object;

function metadataOf({ metadata }: KubeObject): KubeObject {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
}

/** The first media type of an Accept header that can be served; JSON if there is none, as clients expect. */
export function accepted(header: string, protobuf: Encoding): Accepted {
  for (const range of header.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    const encoding =
      type === protobuf.contentType ? protobuf : type === 'application/json' ? JSON_ENCODING : null;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
    const metadataOnly = as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList';
    // A table, for example, cannot be served.
    if (encoding === null || (as !== undefined && !metadataOnly)) continue;
    return { encoding, asListed: metadataOnly ? metadataOf : asItIs };
  }
  return { encoding: JSON_ENCODING, asListed: asItIs };
}
