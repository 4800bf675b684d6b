/**
 * What changes need of an API server: any request, any answer. The tool and the guard in the cluster have one each.
 * Needs nothing: the guard runs this file, too.
 */
import type { PatchOperation } from './json.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default: JSON. */
  readonly contentType?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface ClusterApi {
  /** Resolves with any answer; rejects if there is none. */
  send(request: ApiRequest): Promise<ApiAnswer>;
}

/** An answer that is neither success nor expected. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly action: string;

  constructor(status: number, action: string, message: string) {
    super(message);
    this.status = status;
    this.action = action;
  }
}

/** What an API server answers, or a proxy in between, whose responses are text. */
export function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.trim().slice(0, 300) };
  }
}

function messageIn(body: unknown): string {
  const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
  return hasMessage ? String(body.message) : '';
}

/** Sends a request; resolves with the body, or with null for one of the `expected` statuses. */
async function ask(
  api: ClusterApi,
  request: ApiRequest,
  action: string,
  expected: readonly number[] = [],
): Promise<unknown> {
  const { status, body } = await api.send(request);
  if (status >= 200 && status < 300) return body;
  if (expected.includes(status)) return null;
  throw new Refusal(status, action, messageIn(body) || `status ${status}`);
}

/** Null if there is no such object. */
export function read(api: ClusterApi, path: string): Promise<unknown> {
  return ask(api, { method: 'GET', path }, `get ${path}`, [404]);
}

/** Null if an object of this name exists. `path` is that of the collection. */
export function create(api: ClusterApi, path: string, body: unknown): Promise<unknown> {
  return ask(api, { method: 'POST', path, body }, `create ${path}`, [409]);
}

/** Null if the object has changed since it was read, or is gone. */
export function replace(api: ClusterApi, path: string, body: unknown): Promise<unknown> {
  return ask(api, { method: 'PUT', path, body }, `update ${path}`, [404, 409]);
}

/**
 * @param version Only if it is still the one that was read.
 * @returns False if it is not.
 */
export async function remove(api: ClusterApi, path: string, version?: string): Promise<boolean> {
  const [body, expected] =
    version === undefined ? [{}, []] : [{ body: { preconditions: { resourceVersion: version } } }, [409]];
  const removed = await ask(api, { method: 'DELETE', path, ...body }, `delete ${path}`, [404, ...expected]);
  return removed !== null || expected.length === 0 || (await read(api, path)) === null;
}

/** Null if one of its tests failed, or the object is gone. */
export function patch(
  api: ClusterApi,
  path: string,
  operations: readonly PatchOperation[],
  options: { readonly dryRun: boolean } = { dryRun: false },
): Promise<unknown> {
  const request: ApiRequest = {
    method: 'PATCH',
    path,
    body: operations,
    contentType: 'application/json-patch+json',
    ...(options.dryRun ? { query: { dryRun: 'All' } } : {}),
  };
  // 422: a test of the patch failed; 409: another write came between for as often as the API server tries.
  return ask(api, request, `patch ${path}`, [404, 409, 422]);
}
