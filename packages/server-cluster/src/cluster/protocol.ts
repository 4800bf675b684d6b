/** The messages between primary and workers, over Node's channel. */

import { isExplained, messageOf } from '@dinodns-bench/program';
import { type ErrorCode, isErrorCode, ServerError } from '../errors.ts';
import type { WorkerSnapshot } from '../metrics/counters.ts';
import type { Secrets } from '../profiles/profile.ts';

/** Environment variable that tells a worker the ports that the primary chose, as `Ports` in JSON. */
export const PORTS_VARIABLE = 'DINODNS_SERVER_PORTS';
/** The number of workers. */
export const WORKERS_VARIABLE = 'DINODNS_SERVER_WORKERS';

export const STOP_MESSAGE = 'dinodns-server:stop';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
}

/** What a worker serves. */
export interface Sent {
  /** The file of the zones; null: those that the program loads. */
  readonly zonesFile: string | null;
  readonly secrets: Secrets;
}

/** A task from the primary to a worker. */
export type Task =
  /** Load the initial zones. */
  | ({ readonly task: 'load' } & Sent)
  /** Bind and serve. The result is the UDP backend. */
  | { readonly task: 'open' }
  /** Load the zones beside the present ones. `attempt` is used only once. */
  | ({ readonly task: 'prepare'; readonly attempt: number } & Sent)
  /** Switch to them, unless those of a later generation are already served. */
  | { readonly task: 'commit'; readonly attempt: number; readonly generation: number }
  /** Discard them, even if they are still being loaded. */
  | { readonly task: 'abort'; readonly attempt: number }
  | { readonly task: 'snapshot' };

export type Result = WorkerSnapshot | string | null;

export interface RequestMessage {
  readonly kind: 'dinodns-server:request';
  readonly id: number;
  readonly task: Task;
}

export interface ReplyMessage {
  readonly kind: 'dinodns-server:reply';
  readonly id: number;
  readonly outcome: { readonly result: Result } | { readonly failure: Failure };
}

export type Message =
  /** The worker's program has reached the point where it accepts tasks. */
  { readonly kind: 'dinodns-server:started' } | RequestMessage | ReplyMessage;

export function toFailure(error: unknown): Failure {
  if (isExplained(error)) {
    const code = isErrorCode(error.code) ? error.code : 'E_INTERNAL';
    return { code, message: error.message, fix: error.fix };
  }
  return { code: 'E_INTERNAL', message: messageOf(error), fix: 'Please report this.' };
}

export function toError({ code, message, fix }: Failure): ServerError {
  return new ServerError(code, message, fix);
}

/** One of our messages; anything else on the channel belongs to the program or to Node.js. */
export function asMessage(message: unknown): Message | undefined {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return undefined;
  return String(message.kind).startsWith('dinodns-server:') ? (message as Message) : undefined;
}
