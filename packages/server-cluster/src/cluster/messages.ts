/** What primary and workers say to each other over Node's channel between them. */

import { isExplained, messageOf } from '@dinodns-bench/program';
import { type ErrorCode, isErrorCode, ServerError } from '../errors.ts';
import type { WorkerSnapshot } from '../metrics/snapshot.ts';

/** Environment variable by which a worker learns the port that the primary has chosen. */
export const PORT_VARIABLE = 'DINODNS_SERVER_PORT';
/** How many workers there are. */
export const WORKERS_VARIABLE = 'DINODNS_SERVER_WORKERS';

export const STOP_MESSAGE = 'dinodns-server:stop';

/** The worker's program has come to where it can be asked to load and to serve. */
export interface StartedMessage {
  readonly kind: 'dinodns-server:started';
}

export interface FailureMessage {
  readonly kind: 'dinodns-server:failure';
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
}

/** What the primary asks of a worker. */
export type Task =
  /** Load the zones to begin with: of this file, or as the program does. */
  | { readonly task: 'load'; readonly zonesFile: string | null }
  /** Bind and serve. The result is what moves the datagrams. */
  | { readonly task: 'open' }
  /** Load the zones (of this file, or as the program does) beside the present ones. */
  | { readonly task: 'prepare'; readonly generation: number; readonly zonesFile: string | null }
  /** Serve them from now on, unless later ones are served already. */
  | { readonly task: 'commit'; readonly generation: number }
  /** Forget them. */
  | { readonly task: 'abort'; readonly generation: number }
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
  readonly outcome: { readonly result: Result } | { readonly failure: FailureMessage };
}

export type Message = StartedMessage | RequestMessage | ReplyMessage;

export function toFailure(error: unknown): FailureMessage {
  const kind = 'dinodns-server:failure';
  if (isExplained(error)) {
    const code = isErrorCode(error.code) ? error.code : 'E_INTERNAL';
    return { kind, code, message: error.message, fix: error.fix };
  }
  return { kind, code: 'E_INTERNAL', message: messageOf(error), fix: 'Please report this.' };
}

export function toError({ code, message, fix }: FailureMessage): ServerError {
  return new ServerError(code, message, fix);
}

/** A message of ours; anything else on the channel is the program's own or Node's. */
export function asMessage(message: unknown): Message | undefined {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return undefined;
  switch (message.kind) {
    case 'dinodns-server:started':
    case 'dinodns-server:request':
    case 'dinodns-server:reply':
      return message as Message;
    default:
      return undefined;
  }
}
