/**
 * Everything that can go wrong in a way a user should read about is a `ServerError`: what failed, the value
 * that failed, and what to do about it. The code is stable and decides the exit status.
 */

/** Exit statuses of `dinodns-server`; 130 and 143 follow the shell's convention of 128 + signal number. */
export const EXIT_STATUS = {
  success: 0,
  /** A bug: an exception nobody expected. */
  internal: 1,
  /** The command line or the zone data asks for something impossible. */
  usage: 2,
  /** The machine refuses: the port is taken or may not be bound, no such address, a file cannot be read. */
  environment: 3,
  /** The server or its workers did not start, or a worker kept dying. */
  server: 4,
  /** A second Ctrl-C (SIGINT) during a graceful stop. */
  interrupted: 130,
  /** A second SIGTERM during a graceful stop. */
  terminated: 143,
} as const;

export const ERROR_CODES = {
  E_USAGE: 'usage',
  E_ZONES: 'usage',
  E_UNSUPPORTED: 'usage',
  E_UNREADABLE: 'environment',
  E_PORT_TAKEN: 'environment',
  E_NO_PERMISSION: 'environment',
  E_ADDRESS: 'environment',
  E_START: 'server',
  E_WORKER: 'server',
  E_INTERNAL: 'internal',
} as const satisfies Record<string, keyof typeof EXIT_STATUS>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error with a stable `code`, the `fix` as an imperative sentence, and an exit status. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: ErrorCode;
  readonly fix: string;

  constructor(code: ErrorCode, message: string, fix: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.fix = fix;
  }

  get exitStatus(): number {
    return EXIT_STATUS[ERROR_CODES[this.code]];
  }
}

/** The `code` of a Node.js system error (`EADDRINUSE`, `ENOENT`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A failed bind as an error that says what to do. */
export function bindError(error: unknown, address: string, port: number): ServerError {
  const where = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const code = systemErrorCode(error);
  switch (code) {
    case 'EADDRINUSE':
      return new ServerError(
        'E_PORT_TAKEN',
        `${where} is already in use.`,
        `Stop what listens there (\`ss -lnptu 'sport = :${port}'\` shows it), or choose another --port; 0 picks a free one.`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
      return new ServerError(
        'E_NO_PERMISSION',
        `This user may not bind ${where}.`,
        'Choose a --port of 1024 or above, or grant CAP_NET_BIND_SERVICE to the Node.js process.',
        error,
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return new ServerError(
        'E_ADDRESS',
        `${address} is not an address of this machine (${code}).`,
        'Choose an --address that `ip address` lists, or 0.0.0.0 or :: for all of them.',
        error,
      );
    default:
      return new ServerError(
        'E_START',
        `Cannot listen on ${where}: ${messageOf(error)}.`,
        'See the cause.',
        error,
      );
  }
}

/** What `start` rejects with if `stop` is called meanwhile. */
export function stoppedEarly(): ServerError {
  return new ServerError('E_START', 'The server was stopped before it was ready.', 'Wait for start().');
}
