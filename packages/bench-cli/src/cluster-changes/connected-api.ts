/** The API of the cluster of a kubeconfig, for changes: patient while the API server is away. */
import {
  ApiError,
  apiErrorOf,
  ConnectionError,
  explainApiError,
  isTransient,
} from '../kubernetes-api/api-error.ts';
import { withBackoff } from '../kubernetes-api/backoff.ts';
import { AWAY_SECONDS, sendToReady } from '../kubernetes-api/client.ts';
import type { Connection } from '../kubernetes-api/connect.ts';
import type { Clock } from '../world.ts';
import { type ApiAnswer, type ApiRequest, type ClusterApi, Refusal } from './cluster-api.ts';
import { placeOf } from './place.ts';
import { describeRight } from './rights.ts';

/** A request without a response within this time is aborted and sent again. */
const ANSWER_SECONDS = 15;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // From a proxy in between: its responses are text.
    return { message: text.trim().slice(0, 300) };
  }
}

export interface ConnectedApiOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Ends requests and the pauses between them. */
  readonly signal: AbortSignal;
  /** How long the API server may be away. */
  readonly awaySeconds?: number;
}

export function connectedApi({
  connection,
  clock,
  signal,
  awaySeconds = AWAY_SECONDS,
}: ConnectedApiOptions): ClusterApi {
  const sendOnce = async (request: ApiRequest): Promise<ApiAnswer> => {
    const { method, path, query = {}, body, contentType = 'application/json' } = request;
    const late = AbortSignal.timeout(ANSWER_SECONDS * 1000);
    const limit = AbortSignal.any([signal, late]);
    try {
      const response = await sendToReady(connection, {
        ...{ method, path, query, body, contentType },
        signal: limit,
      });
      const text = await response.body.text();
      const status = response.httpStatusCode;
      const error = apiErrorOf(status, text, `${method} ${path}`, response.headers['retry-after']);
      if (status >= 300 && isTransient(error)) throw error;
      return { status, body: parsed(text) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError || error instanceof ConnectionError) throw error;
      const reason = late.aborted ? `no answer within ${ANSWER_SECONDS} seconds` : String(error);
      throw new ConnectionError(reason, { cause: error });
    }
  };
  return {
    send: (request) => withBackoff({ clock, signal, forSeconds: awaySeconds }, () => sendOnce(request)),
  };
}

/** `patch /apis/apps/v1/namespaces/a/deployments/b` → `patch deployments.apps b in namespace a`. */
function inWords(action: string): string {
  const [verb = '', path = ''] = action.split(' ');
  return describeRight({ ...placeOf(path), verb });
}

/** A failure of a request for changes, as an error that says what to do. */
export function explainRefusal(error: unknown): unknown {
  const known =
    error instanceof Refusal ? new ApiError(error.status, '', error.message, inWords(error.action)) : error;
  return explainApiError(known);
}
