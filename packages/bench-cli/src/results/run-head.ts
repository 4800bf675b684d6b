/** What the record of every experiment says of its run, at its start. Pure. */
import { shellCommand } from '../text.ts';
import { BENCH_VERSION } from '../version.ts';

/** @param startedAt ISO 8601. */
export function runHead(argv: readonly string[], startedAt: string) {
  return {
    generator: { name: 'dinodns-bench' as const, version: BENCH_VERSION },
    status: 'running' as const,
    startedAt,
    endedAt: null,
    command: shellCommand(['pnpm', 'bench', ...argv]),
    argv: [...argv],
  };
}
