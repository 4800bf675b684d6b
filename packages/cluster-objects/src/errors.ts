/** Errors of this package: a stable code, what is wrong, and the fix. */
import { type ExitReason, errorClass } from '@dinodns-bench/program';

/** Stable error codes and why the program ends with each. */
export const ERROR_CODES = {
  /** A command line that cannot be understood. */
  E_USAGE: 'usage',
  /** The description of a cluster or of external names is not valid, or there are no names to ask for. */
  E_CLUSTER: 'usage',
  /** An option of the Corefile cannot be written into one. */
  E_COREFILE: 'usage',
  /** The address or the port cannot be used. */
  E_LISTEN: 'environment',
  E_INTERRUPTED: 'interrupted',
  E_TERMINATED: 'terminated',
} as const satisfies Record<string, ExitReason>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error with a stable `code`, all `problems`, each with its `fix`, and an exit status. */
export class ClusterError extends errorClass(ERROR_CODES) {
  override readonly name = 'ClusterError';
}
