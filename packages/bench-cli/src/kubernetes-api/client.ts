/**
 * The API server as bench uses it: typed requests that are retried when it is busy or unreachable, and streams.
 * Requests are sent one at a time.
 */
import { messageOf } from '@dinodns-bench/program';
import type { HttpMethod, V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import type { Clock } from '../world.ts';
import { type ApiError, apiErrorOf, ConnectionError, explainApiError, hasStatus } from './api-error.ts';
import { withBackoff } from './backoff.ts';
import type { Connection } from './connect.ts';
import { KINDS, type Kind, type Kinds, pathOf } from './kinds.ts';

export interface ListOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly fields?: string;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface KubeClient {
  readonly context: string;
  /** Address of the API server. */
  readonly server: string;
  readonly clock: Clock;
  create<K extends Kind>(
    kind: K,
    object: Kinds[K],
    signal: AbortSignal,
    options?: { dryRun: boolean },
  ): Promise<Kinds[K]>;
  /** Null if there is none. */
  get<K extends Kind>(
    kind: K,
    name: string,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<Kinds[K] | null>;
  list<K extends Kind>(kind: K, options: ListOptions, signal: AbortSignal): Promise<ObjectList<Kinds[K]>>;
  /** Merges `status` into an object's own (RFC 7396). */
  patchStatus(
    kind: Kind,
    name: string,
    namespace: string,
    status: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Resolves when the API server has accepted it, or has no such object. */
  delete(kind: Kind, name: string, namespace: string | undefined, signal: AbortSignal): Promise<void>;
  /** Asks whether this user may do something; see `access.ts`. */
  review(object: Pick<V1SelfSubjectAccessReview, 'spec'>, signal: AbortSignal): Promise<unknown>;
  /** Any other path, as text. Retried after transient failures. */
  text(path: string, action: string, signal: AbortSignal): Promise<string>;
  /** Opens a stream, once: its reader decides what a broken stream means. */
  stream(
    path: string,
    query: Readonly<Record<string, string>>,
    action: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
}

/** How long an API server may be unreachable, for an upgrade or a failover, without failing a run. */
export const AWAY_SECONDS = 60;

/** A request without a response within this time is aborted and retried. */
const ANSWER_SECONDS = 15;

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function labelSelector(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function actionOf(verb: string, kind: Kind, namespace: string | undefined): string {
  return `${verb} ${KINDS[kind].plural}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

export interface ClientOptions {
  readonly clock: Clock;
  /** Default `AWAY_SECONDS`. */
  readonly awaySeconds?: number;
}

interface Call {
  readonly method: HttpMethod;
  readonly path: string;
  readonly action?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly signal: AbortSignal;
}

/** Every user may ask whether the API server is ready. Where that is not so, it counts as ready. */
async function isStarting(connection: Connection, signal: AbortSignal): Promise<boolean> {
  const { httpStatusCode, body } = await connection.send({
    method: 'GET',
    path: '/readyz',
    query: {},
    body: undefined,
    contentType: 'application/json',
    signal,
  });
  await body.text();
  return httpStatusCode >= 500;
}

/**
 * How long an API server that was away may refuse what it allows. It can say that it is ready, and not know the newest roles for a
 * moment: seen after a kill on a busy machine.
 */
const SETTLING_SECONDS = 10;

/** When an API server was last away or starting, in seconds of the monotonic clock. */
const troubledAt = new WeakMap<Connection, number>();

async function sendNoting(
  connection: Connection,
  clock: Clock,
  request: Parameters<Connection['send']>[0],
): ReturnType<Connection['send']> {
  try {
    return await connection.send(request);
  } catch (error) {
    if (error instanceof ConnectionError) troubledAt.set(connection, clock.monotonicSeconds());
    throw error;
  }
}

/**
 * Sends a request. An API server that has not read the roles yet refuses everything: a refusal counts if a server repeats it that is
 * ready, and was not away a moment ago.
 * @throws ConnectionError while the server is starting
 */
async function sendToReady(
  connection: Connection,
  clock: Clock,
  { method, path, query = {}, body, contentType = 'application/json' }: Call,
  signal: AbortSignal,
): ReturnType<Connection['send']> {
  const request = { method, path, query, body, contentType, signal };
  const answer = await sendNoting(connection, clock, request);
  if (answer.httpStatusCode !== 403) return answer;
  const refusal = await answer.body.text();
  if (await isStarting(connection, signal)) {
    troubledAt.set(connection, clock.monotonicSeconds());
    throw new ConnectionError(`the API server has started but is not ready: ${refusal}`);
  }
  const again = await connection.send(request);
  const sinceTrouble = clock.monotonicSeconds() - (troubledAt.get(connection) ?? Number.NEGATIVE_INFINITY);
  if (again.httpStatusCode !== 403 || sinceTrouble >= SETTLING_SECONDS) return again;
  throw new ConnectionError(`the API server has just started: ${await again.body.text()}`);
}

type Response = Awaited<ReturnType<Connection['send']>>;

/** Null for success. */
function errorIn({ httpStatusCode: status, headers }: Response, text: string, call: Call): ApiError | null {
  if (status >= 200 && status < 300) return null;
  const { action = `${VERBS[call.method] ?? call.method} ${call.path}` } = call;
  return apiErrorOf(status, text, action, headers['retry-after']);
}

/** One attempt: any answer, whole, within `ANSWER_SECONDS`. @throws ConnectionError if there is none */
export async function answerOnce(
  connection: Connection,
  clock: Clock,
  call: Call,
): Promise<{ readonly status: number; readonly text: string; readonly error: ApiError | null }> {
  const late = AbortSignal.timeout(ANSWER_SECONDS * 1000);
  try {
    const response = await sendToReady(connection, clock, call, AbortSignal.any([call.signal, late]));
    const text = await response.body.text();
    return { status: response.httpStatusCode, text, error: errorIn(response, text, call) };
  } catch (cause) {
    call.signal.throwIfAborted();
    if (late.aborted) throw new ConnectionError(`no answer within ${ANSWER_SECONDS} seconds`, { cause });
    if (cause instanceof ConnectionError) throw cause;
    // The connection broke while the answer was on its way.
    throw new ConnectionError(messageOf(cause), { cause });
  }
}

type Calls = ReturnType<typeof callsOver>;

function callsOver(connection: Connection, { clock, awaySeconds = AWAY_SECONDS }: ClientOptions) {
  /** Retries `attempt` while the API server is unreachable; rejects with an error that a user understands. */
  const patiently = async <T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> => {
    try {
      return await withBackoff({ clock, signal, forSeconds: awaySeconds }, attempt);
    } catch (error) {
      throw signal.aborted ? error : explainApiError(error);
    }
  };

  /** One attempt: the whole response as text, within `ANSWER_SECONDS`. */
  const exchangeOnce = async (call: Call): Promise<string> => {
    const { text, error } = await answerOnce(connection, clock, call);
    if (error !== null) throw error;
    return text;
  };

  return {
    exchangeOnce,
    patiently,
    /** `exchangeOnce`, patiently. */
    exchange: (call: Call) => patiently(call.signal, () => exchangeOnce(call)),
    /** The same; null for an answer with one of these statuses. */
    exchangeUnless: (statuses: readonly number[], call: Call) =>
      patiently(call.signal, async () => {
        const { status, text, error } = await answerOnce(connection, clock, call);
        if (statuses.includes(status)) return null;
        if (error !== null) throw error;
        return text;
      }),
  };
}

async function createObject<K extends Kind>(
  calls: Calls,
  kind: K,
  object: Kinds[K],
  signal: AbortSignal,
  dryRun: boolean,
): Promise<Kinds[K]> {
  const namespace = object.metadata?.namespace;
  const call: Call = {
    method: 'POST',
    path: pathOf(kind, namespace),
    action: actionOf('create', kind, namespace),
    query: dryRun ? { dryRun: 'All' } : {},
    body: { apiVersion: KINDS[kind].apiVersion, kind, ...object },
    signal,
  };
  let attempts = 0;
  const createOnce = async () => {
    attempts += 1;
    try {
      return await calls.exchangeOnce(call);
    } catch (error) {
      // The response to the first attempt was lost: the object that exists is this run's own.
      if (attempts === 1 || !hasStatus(error, 409)) throw error;
      // The result is used for these two kinds only.
      if (kind !== 'Service' && kind !== 'Namespace') return JSON.stringify(object);
      return await calls.exchangeOnce({
        ...call,
        method: 'GET',
        path: `${call.path}/${object.metadata?.name}`,
        query: {},
        body: undefined,
      });
    }
  };
  return JSON.parse(await calls.patiently(signal, createOnce));
}

export function createClient(connection: Connection, options: ClientOptions): KubeClient {
  const calls = callsOver(connection, options);
  return {
    context: connection.context,
    server: connection.server,
    clock: options.clock,
    create: (kind, object, signal, { dryRun } = { dryRun: false }) =>
      createObject(calls, kind, object, signal, dryRun),
    async get(kind, name, namespace, signal) {
      const text = await calls.exchangeUnless([404], {
        method: 'GET',
        path: `${pathOf(kind, namespace)}/${name}`,
        action: actionOf('get', kind, namespace),
        signal,
      });
      return text === null ? null : JSON.parse(text);
    },
    async list(kind, { namespace, labels, fields }, signal) {
      const text = await calls.exchange({
        method: 'GET',
        path: pathOf(kind, namespace),
        action: actionOf('list', kind, namespace),
        query: {
          ...(labels === undefined ? {} : { labelSelector: labelSelector(labels) }),
          ...(fields === undefined ? {} : { fieldSelector: fields }),
        },
        signal,
      });
      const list = JSON.parse(text);
      return { items: list.items ?? [], resourceVersion: list.metadata?.resourceVersion ?? '' };
    },
    async patchStatus(kind, name, namespace, status, signal) {
      await calls.exchange({
        method: 'PATCH',
        path: `${pathOf(kind, namespace)}/${name}/status`,
        action: `patch ${KINDS[kind].plural}/status in namespace ${namespace}`,
        body: { status },
        contentType: 'application/merge-patch+json',
        signal,
      });
    },
    async delete(kind, name, namespace, signal) {
      // 409 while a namespace is being deleted already.
      await calls.exchangeUnless([404, 409], {
        method: 'DELETE',
        path: `${pathOf(kind, namespace)}/${name}`,
        action: actionOf('delete', kind, namespace),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
        signal,
      });
    },
    async review(object, signal) {
      const api = 'authorization.k8s.io/v1';
      const text = await calls.exchange({
        method: 'POST',
        path: `/apis/${api}/selfsubjectaccessreviews`,
        action: 'create selfsubjectaccessreviews',
        body: { apiVersion: api, kind: 'SelfSubjectAccessReview', ...object },
        signal,
      });
      return JSON.parse(text);
    },
    text: (path, action, signal) => calls.exchange({ method: 'GET', path, action, signal }),
    async stream(path, query, action, signal) {
      const call: Call = { method: 'GET', path, query, action, signal };
      const response = await sendToReady(connection, options.clock, call, signal);
      if (response.httpStatusCode >= 300) throw errorIn(response, await response.body.text(), call);
      const stream = response.body.stream();
      if (stream === null) throw new ConnectionError(`${action}: an answer without a body`);
      return stream;
    },
  };
}

/** For requests that remove what was made, also after Ctrl-C: then they have five seconds. */
export function tidyingSignal(signal: AbortSignal): AbortSignal {
  return signal.aborted ? AbortSignal.timeout(5000) : signal;
}
