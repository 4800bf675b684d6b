/** This package's errors: what failed, the value, and the fix. */

/**
 * Codes of this package's own errors. Errors of the operating system have their errno name as code instead
 * (EADDRINUSE, EACCES, EADDRNOTAVAIL, …), with either backend.
 *
 * - `ERR_UDP_ADDRESS`: not an address literal, a zone that is not an interface, or of the wrong family.
 * - `ERR_UDP_OPTION`: an option out of its range.
 * - `ERR_UDP_BACKEND`: the requested backend cannot be used here.
 * - `ERR_UDP_CLOSED`: the socket is closed.
 * - `ERR_UDP_STATE`: a call that is not allowed now, such as `receive` from within `onBatch`.
 */
export type UdpErrorCode =
  | 'ERR_UDP_ADDRESS'
  | 'ERR_UDP_OPTION'
  | 'ERR_UDP_BACKEND'
  | 'ERR_UDP_CLOSED'
  | 'ERR_UDP_STATE';

export class UdpError extends Error {
  override readonly name = 'UdpError';
  /** A `UdpErrorCode`, or the name of an errno. */
  readonly code: string;
  /** The system call that failed, if one did. */
  readonly syscall: string | undefined;

  constructor(code: UdpErrorCode | (string & {}), message: string, syscall?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.syscall = syscall;
  }
}

const advice: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another socket uses it; choose another port, or set reusePort on both',
  EACCES:
    'this process may not use it; ports below net.ipv4.ip_unprivileged_port_start need CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'no interface of this host has the address',
  EAFNOSUPPORT: 'this host does not support the address family',
  ENETUNREACH: 'there is no route to it',
  EMFILE: 'this process has too many open files; raise ulimit -n',
  EINVAL: 'the kernel does not accept it for this socket',
};

/** An errno as an error: `bind 127.0.0.1:53: EACCES: this process may not use it; …`. */
export function systemError(syscall: string, errnoName: string, subject: string, cause?: unknown): UdpError {
  const hint = advice[errnoName];
  const text = `${syscall}${subject === '' ? '' : ` ${subject}`}: ${errnoName}${hint ? `: ${hint}` : ''}`;
  return new UdpError(errnoName, text, syscall, cause);
}
