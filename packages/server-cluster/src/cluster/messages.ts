/** What primary and workers say to each other over Node's channel between them. */
import { ERROR_CODES, type ErrorCode, messageOf, ServerError } from '../errors.ts';

/** Environment variable by which a worker learns the port that the primary has chosen. */
export const PORT_VARIABLE = 'DINODNS_SERVER_PORT';

export const STOP_MESSAGE = 'dinodns-server:stop';
export const READY_MESSAGE = 'dinodns-server:ready';

export interface FailureMessage {
  readonly kind: 'dinodns-server:failure';
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
}

export function toFailure(error: unknown): FailureMessage {
  const kind = 'dinodns-server:failure';
  if (error instanceof ServerError) return { kind, code: error.code, message: error.message, fix: error.fix };
  return { kind, code: 'E_INTERNAL', message: messageOf(error), fix: 'Please report this.' };
}

export function isFailure(message: unknown): message is FailureMessage {
  if (typeof message !== 'object' || message === null) return false;
  const { kind, code } = message as Partial<FailureMessage>;
  return kind === 'dinodns-server:failure' && code !== undefined && code in ERROR_CODES;
}
