/** Collects what the program beside CoreDNS prints. */
import { BenchError } from '../../../errors.ts';
import { type Phase, type PhaseFigures, parsePhaseLine, type QueryCounts } from './phases.ts';

export interface PhaseReader {
  readonly figures: readonly PhaseFigures[];
  /** Queries of all phases, once they are over and all queries are accounted for; null before. */
  readonly total: QueryCounts | null;
  /** The phase that took too long; null if none did. */
  readonly late: Phase | null;
  /** Resources that were read as streams and never as lists, once all phases are over. */
  readonly streamed: readonly string[];
  onLine(line: string): void;
  /**
   * @throws BenchError `E_LOADER_FAILED` if the program itself has failed, `E_CLUSTER_REFUSED` if the API server got slow: no
   * finding about CoreDNS.
   */
  demandSound(): void;
}

export function readPhases(onPhase: (figures: PhaseFigures) => void = () => undefined): PhaseReader {
  const figures: PhaseFigures[] = [];
  let failure: BenchError | null = null;
  let total: QueryCounts | null = null;
  let late: Phase | null = null;
  let streamed: readonly string[] = [];
  return {
    figures,
    get total() {
      return total;
    },
    get late() {
      return late;
    },
    get streamed() {
      return streamed;
    },
    onLine(line) {
      const parsed = parsePhaseLine(line);
      if (parsed === null) return;
      if ('phase' in parsed) {
        figures.push(parsed);
        onPhase(parsed);
      } else if ('done' in parsed) ({ queries: total, streamed } = parsed);
      else if ('late' in parsed) late = parsed.late;
      else if ('slow' in parsed)
        failure = new BenchError('E_CLUSTER_REFUSED', `the API server got slow: ${parsed.slow}`, {
          evidence: ['What was created is deleted again'],
          fix: 'Measure fewer objects, or at a time when the cluster has less to do.',
        });
      else if ('failed' in parsed)
        failure = new BenchError('E_LOADER_FAILED', `CoreDNS could not be measured: ${parsed.failed}`, {
          fix: 'Check that it is CoreDNS with the kubernetes plugin, and that nothing keeps it from the API server.',
        });
    },
    demandSound() {
      if (failure !== null) throw failure;
    },
  };
}
