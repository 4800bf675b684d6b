/** Ctrl-C and SIGTERM, for programs that shut down cleanly. */
import { ProgramError } from './errors.ts';
import { EXIT_STATUS } from './exit-status.ts';

const STOPS = [
  { signal: 'SIGINT', code: 'E_INTERRUPTED', reason: 'interrupted', name: 'Ctrl-C' },
  { signal: 'SIGTERM', code: 'E_TERMINATED', reason: 'terminated', name: 'SIGTERM' },
] as const;

/** The part of `process` used here. */
export interface SignalledProcess {
  on(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown;
  exit(status: number): never;
}

/**
 * A signal that Ctrl-C and SIGTERM abort, with the error to report (`E_INTERRUPTED`, `E_TERMINATED`) as its
 * reason; `fix` says what the user can do then. A second signal ends the process at once.
 */
export function abortOnSignals(process: SignalledProcess, fix: string): AbortSignal {
  const controller = new AbortController();
  for (const { signal, code, reason, name } of STOPS) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(EXIT_STATUS[reason]);
      const problems = [{ problem: `stopped by ${name}`, fix }];
      controller.abort(new ProgramError(code, reason, { problems }));
    });
  }
  return controller.signal;
}
