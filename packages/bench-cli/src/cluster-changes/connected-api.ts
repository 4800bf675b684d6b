/** The API of the cluster of a kubeconfig, for changes: patient while the API server is away. */
import { ApiError, explainApiError, isTransient } from '../kubernetes-api/api-error.ts';
import { withBackoff } from '../kubernetes-api/backoff.ts';
import { AWAY_SECONDS, answerOnce } from '../kubernetes-api/client.ts';
import type { Connection } from '../kubernetes-api/connect.ts';
import type { Clock } from '../world.ts';
import { type ClusterApi, Refusal } from './cluster-api.ts';
import { placeOf } from './place.ts';
import { describeRight } from './rights.ts';

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
}

export function connectedApi({ connection, clock, signal }: ConnectedApiOptions): ClusterApi {
  return {
    send: (request) =>
      withBackoff({ clock, signal, forSeconds: AWAY_SECONDS }, async () => {
        const { status, text, error } = await answerOnce(connection, { ...request, signal });
        if (isTransient(error)) throw error;
        return { status, body: parsed(text) };
      }),
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
