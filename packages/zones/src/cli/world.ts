/** All parts of the outside world that the commands use, so that a test can supply its own. */
import type { Output } from '@dinodns-bench/program';

export interface CliWorld {
  /** Results. */
  readonly stdout: Output;
  /** Everything else. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The base of relative paths. */
  readonly cwd: string;
  /** Aborted with the error to report when the user or the system stops the program. */
  readonly signal: AbortSignal;
}
