/**
 * Ctrl-C, SIGTERM and SIGHUP. The first signal ends the run cleanly: what was measured is saved, servers are
 * stopped. The second one does not wait for servers to stop.
 */
import { BenchError } from './errors.ts';
import type { World } from './world.ts';

export interface Interruption {
  /** Aborted by the first signal, with the BenchError to report as its reason. */
  readonly signal: AbortSignal;
  /** Aborted by the second signal: kill instead of asking to stop. */
  readonly force: AbortSignal;
  /** Stops listening. */
  release(): void;
}

/** What happens after a signal, for people. */
export interface InterruptionWords {
  readonly first: string;
  readonly again: string;
}

const WORDS: InterruptionWords = {
  first: 'stopping the servers; once more to kill them',
  again: 'killing the servers',
};

export function listenForInterruption(
  world: World,
  tell: (text: string) => void,
  words: InterruptionWords = WORDS,
): Interruption {
  const first = new AbortController();
  const second = new AbortController();
  const interrupt = (code: 'E_INTERRUPTED' | 'E_TERMINATED', what: string) => () => {
    if (!first.signal.aborted) {
      tell(`${what}: ${words.first}`);
      first.abort(new BenchError(code, `stopped by ${what}`, { fix: 'Run the command again.' }));
    } else if (!second.signal.aborted) {
      tell(`${what} again: ${words.again}`);
      second.abort(first.signal.reason);
    }
  };
  const releases = [
    world.signals.on('SIGINT', interrupt('E_INTERRUPTED', 'Ctrl-C')),
    world.signals.on('SIGTERM', interrupt('E_TERMINATED', 'SIGTERM')),
    world.signals.on('SIGHUP', interrupt('E_TERMINATED', 'SIGHUP')),
  ];
  return {
    signal: first.signal,
    force: second.signal,
    release: () => {
      for (const release of releases) release();
    },
  };
}
