import type { ProgramWorld } from '@dinodns-bench/program';

export interface CliWorld extends ProgramWorld {
  /** The base of relative paths. */
  readonly cwd: string;
}
