/**
 * Follows the objects of a selection: listed once, then watched; when the watch ends (the API server closes
 * it, is restarted, or has forgotten the version) it is listed and watched again.
 */
import { ApiError, ConnectionError, explainApiError, isTransient } from './api-error.ts';
import { pauseAfter } from './backoff.ts';
import { AWAY_SECONDS, type KubeClient, type ListOptions, labelSelector } from './client.ts';
import { KINDS, type Kind, type Kinds, pathOf } from './kinds.ts';
import { linesOf } from './lines.ts';

/** The API server ends the watch after this, and it is restarted. Short, so that a dead connection shows. */
const WATCH_SECONDS = 60;
/** Silence after which a connection counts as dead: bookmarks come about once a minute. */
const SILENCE_SECONDS = WATCH_SECONDS + 15;

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

export interface Followed<T> {
  /** All objects of the selection, in the order of their names. */
  readonly objects: readonly T[];
  /** The object that this change deleted. */
  readonly deleted: T | null;
}

export interface FollowRequest<K extends Kind> extends ListOptions {
  readonly kind: K;
  readonly signal: AbortSignal;
}

function nameOf(object: { metadata?: { name?: string } }): string {
  return object.metadata?.name ?? '';
}

async function* watchEvents<K extends Kind>(
  client: KubeClient,
  { kind, namespace, labels, fields, signal }: FollowRequest<K>,
  resourceVersion: string,
): AsyncGenerator<WatchEvent<Kinds[K]>> {
  const silence = new AbortController();
  const listen = () => client.clock.after(SILENCE_SECONDS, () => silence.abort());
  let cancel = listen();
  const query = {
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(WATCH_SECONDS),
    ...(labels === undefined ? {} : { labelSelector: labelSelector(labels) }),
    ...(fields === undefined ? {} : { fieldSelector: fields }),
  };
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  try {
    const stream = await client.stream(
      pathOf(kind, namespace),
      query,
      `watch ${KINDS[kind].plural}${where}`,
      AbortSignal.any([signal, silence.signal]),
    );
    for await (const line of linesOf(stream)) {
      cancel();
      cancel = listen();
      if (line.trim() !== '') yield JSON.parse(line);
    }
  } finally {
    cancel();
  }
}

/**
 * Yields the objects at once and after every change, until the signal is aborted (then it rejects with its reason).
 * Rejects with a BenchError when it may not watch, or when the API server is unreachable for too long.
 */
export async function* follow<K extends Kind>(
  client: KubeClient,
  request: FollowRequest<K>,
): AsyncGenerator<Followed<Kinds[K]>> {
  const { kind, signal } = request;
  let known = new Map<string, Kinds[K]>();
  let failures = 0;
  let lastContact = client.clock.monotonicSeconds();
  const objects = () => [...known.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (;;) {
    const list = await client.list(kind, request, signal);
    const before = known;
    known = new Map(list.items.map((object) => [nameOf(object), object]));
    for (const [name, object] of before) {
      if (!known.has(name)) yield { objects: objects(), deleted: object };
    }
    yield { objects: objects(), deleted: null };
    try {
      for await (const { type, object } of watchEvents(client, request, list.resourceVersion)) {
        failures = 0;
        lastContact = client.clock.monotonicSeconds();
        if (type === 'BOOKMARK') continue;
        // The version is too old (410), or the server is in trouble: start over.
        if (type === 'ERROR') break;
        const name = nameOf(object);
        if (type === 'DELETED') known.delete(name);
        else known.set(name, object);
        yield { objects: objects(), deleted: type === 'DELETED' ? object : null };
      }
    } catch (error) {
      signal.throwIfAborted();
      const gone = error instanceof ApiError && error.status === 410;
      const refused = error instanceof ApiError && !isTransient(error) && !gone;
      const away = client.clock.monotonicSeconds() - lastContact;
      if (refused || away > AWAY_SECONDS + SILENCE_SECONDS) throw explainApiError(error);
      failures += 1;
      await client.clock.sleep(pauseAfter(failures, error), signal);
    }
    signal.throwIfAborted();
  }
}

/**
 * Follows a selection until `decide` returns, or resolves with, something other than undefined.
 * Rejects with what `decide` throws, or with the signal's reason.
 */
export async function followTo<K extends Kind, T>(
  client: KubeClient,
  request: FollowRequest<K>,
  decide: (change: Followed<Kinds[K]>) => Promise<T | undefined> | T | undefined,
): Promise<T> {
  for await (const change of follow(client, request)) {
    const decision = await decide(change);
    if (decision !== undefined) return decision;
  }
  throw new Error('a watch ended without a reason');
}

/** The same, which rejects with `onTimeout` after `seconds`. */
export async function followUntil<K extends Kind, T>(
  client: KubeClient,
  request: FollowRequest<K> & { readonly seconds: number },
  decide: (change: Followed<Kinds[K]>) => T | undefined,
  onTimeout: () => Promise<Error> | Error,
): Promise<T> {
  const late = new AbortController();
  const cancel = client.clock.after(request.seconds, () => late.abort(new ConnectionError('too late')));
  const signal = AbortSignal.any([request.signal, late.signal]);
  try {
    return await followTo(client, { ...request, signal }, decide);
  } catch (error) {
    request.signal.throwIfAborted();
    throw late.signal.aborted ? await onTimeout() : error;
  } finally {
    cancel();
    late.abort(new ConnectionError('no longer needed'));
  }
}
