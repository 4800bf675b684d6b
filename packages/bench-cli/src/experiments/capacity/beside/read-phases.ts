/** Collects what the program beside CoreDNS prints. */
import { BenchError } from '../../../errors.ts';
import { type PhaseFigures, parsePhaseLine, type QueryCounts } from './phases.ts';

export interface PhaseReader {
  readonly figures: readonly PhaseFigures[];
  /** Queries of all phases, once they are over and all queries are accounted for; null before. */
  readonly total: QueryCounts | null;
  onLine(line: string): void;
  /** @throws BenchError `E_LOADER_FAILED` if the program itself has failed: no finding about CoreDNS. */
  demandSound(): void;
}

export function readPhases(onPhase: (figures: PhaseFigures) => void = () => undefined): PhaseReader {
  const figures: PhaseFigures[] = [];
  let failure: string | null = null;
  let total: QueryCounts | null = null;
  return {
    figures,
    get total() {
      return total;
    },
    onLine(line) {
      const parsed = parsePhaseLine(line);
      if (parsed === null) return;
      if ('phase' in parsed) {
        figures.push(parsed);
        onPhase(parsed);
      } else if ('done' in parsed) total = parsed.queries;
      else if ('failed' in parsed) failure = parsed.failed;
    },
    demandSound() {
      if (failure === null) return;
      throw new BenchError('E_LOADER_FAILED', `CoreDNS could not be measured: ${failure}`, {
        fix: 'Check that it is CoreDNS with the kubernetes plugin, and that nothing keeps it from the API server.',
      });
    },
  };
}
