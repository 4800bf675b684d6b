/**
 * Every failure that a user should read about is a `ServerError`: what failed, the offending value, and the fix.
 * The code is stable and determines the exit status.
 */
import { type ExitReason, errorClass, messageOf, systemErrorCode } from '@dinodns-bench/program';

/** Stable error codes, each with the reason for the exit. */
export const ERROR_CODES = {
  E_USAGE: 'usage',
  E_ZONES: 'usage',
  E_UNSUPPORTED: 'usage',
  E_TLS: 'usage',
  E_UNREADABLE: 'environment',
  E_PORT_TAKEN: 'environment',
  E_NO_PERMISSION: 'environment',
  E_ADDRESS: 'environment',
  E_START: 'server',
  E_WORKER: 'server',
  E_INTERNAL: 'internal',
} as const satisfies Record<string, ExitReason>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Whether this is one of our codes. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** An error with a stable `code`, the `fix` as an imperative sentence, and an exit status. */
export class ServerError extends errorClass(ERROR_CODES) {
  override readonly name = 'ServerError';
}

/** Turns a failed bind into an error that says what to do. */
export function bindError(error: unknown, address: string, port: number): ServerError {
  const where = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const code = systemErrorCode(error);
  const fail = (ours: ErrorCode, problem: string, fix: string) => new ServerError(ours, problem, fix, error);
  switch (code) {
    case 'EADDRINUSE':
      return fail(
        'E_PORT_TAKEN',
        `${where} is already in use.`,
        `Stop the program that listens there (\`ss -lnptu 'sport = :${port}'\` shows it), or choose another --port; 0 picks a free one.`,
      );
    case 'EACCES':
    case 'EPERM':
      return fail(
        'E_NO_PERMISSION',
        `This user may not bind ${where}.`,
        'Choose a --port of 1024 or above, or grant CAP_NET_BIND_SERVICE to the Node.js process.',
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return fail(
        'E_ADDRESS',
        `${address} is not an address of this machine (${code}).`,
        'Choose an --address that `ip address` lists, or 0.0.0.0 or :: for all of them.',
      );
    default:
      return fail('E_START', `Cannot listen on ${where}: ${messageOf(error)}.`, 'See the cause.');
  }
}

/** The error of `start` when `stop` is called first. */
export function stoppedEarly(): ServerError {
  return new ServerError('E_START', 'The server was stopped before it was ready.', 'Wait for start().');
}
