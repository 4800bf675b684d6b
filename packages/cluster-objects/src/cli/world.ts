/** All parts of the outside world that the commands use. */
import type { Output } from '@dinodns-bench/program';

export interface CliWorld {
  /** Results, and the line that says that a server is ready. */
  readonly stdout: Output;
  /** Everything else. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted with the error to report when the user or the system stops the program. */
  readonly signal: AbortSignal;
}
