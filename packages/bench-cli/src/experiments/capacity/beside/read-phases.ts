/** Collects what the program beside CoreDNS prints. */
import { type Phase, type PhaseFigures, phaseLineSchema, type QueryCounts } from './phases.ts';
import { readLines } from './read-lines.ts';

export type PhaseReader = ReturnType<typeof readPhases>;

export function readPhases(onPhase: (figures: PhaseFigures) => void = () => undefined) {
  const figures: PhaseFigures[] = [];
  let total: QueryCounts | null = null;
  let late: Phase | null = null;
  let streamed: readonly string[] = [];
  const lines = readLines(
    phaseLineSchema,
    (line) => {
      if ('phase' in line) {
        figures.push(line);
        onPhase(line);
      } else if ('done' in line) ({ queries: total, streamed } = line);
      else late = line.late;
    },
    {
      measured: 'CoreDNS',
      slow: 'Measure fewer objects, or at a time when the cluster has less to do.',
      failed:
        'Check that it is CoreDNS with the kubernetes plugin, and that nothing keeps it from the API server.',
    },
  );
  return {
    figures: figures as readonly PhaseFigures[],
    /** Queries of all phases, once they are over and all queries are accounted for; null before. */
    get total() {
      return total;
    },
    /** The phase that took too long; null if none did. */
    get late() {
      return late;
    },
    /** Resources that were read as streams and never as lists, once all phases are over. */
    get streamed() {
      return streamed;
    },
    onLine: lines.onLine,
    /** @throws BenchError if the program has failed or the API server got slow: no finding about CoreDNS */
    demandSound() {
      const { stopped } = lines;
      if (stopped !== null && stopped.code !== 'E_SERVER_DIED') throw stopped;
    },
  };
}
