/** What the program beside a private CoreDNS prints about propagation, and the figures that are made of it. Pure. */
import { z } from 'zod';
import { BenchError } from '../../../../errors.ts';
import { seconds } from '../../../../results/record-units.ts';
import { type LineReader, readLines } from '../../beside/read-lines.ts';
import { evidenceOf, hasResolved, type PropagationEvidence } from '../evidence.ts';

const lineSchema = z.union([
  z.object({
    service: z.object({
      /** Null for one that did not resolve in time; then the other figures are missing. */
      delaySeconds: seconds.nullable(),
      resolutionSeconds: seconds.optional(),
      creationSeconds: seconds.optional(),
      queries: z.number(),
    }),
  }),
  z.object({ churn: z.number(), heldChurnPerSecond: seconds }),
  z.object({ done: z.literal(true) }),
]);

export interface PropagationReader extends Pick<LineReader, 'onLine'> {
  /** Of each rate. @throws BenchError as `LineReader.stopped` says, and `E_LOADER_FAILED` if the end is missing */
  figures(): readonly PropagationEvidence[];
}

type Service = Extract<z.output<typeof lineSchema>, { service: unknown }>['service'];

const figuresOf = (services: readonly Service[], held: number): PropagationEvidence => ({
  ...evidenceOf(services, held),
  creationSeconds: services.filter(hasResolved).map(({ creationSeconds = 0 }) => creationSeconds),
});

/** `onService` is called with how many Services of a rate are over. */
export function readPropagation(onService: (done: number) => void): PropagationReader {
  const figures: PropagationEvidence[] = [];
  let services: Service[] = [];
  let isDone = false;
  const lines = readLines(
    lineSchema,
    (line) => {
      if ('service' in line) {
        services.push(line.service);
        onService(services.length);
      } else if ('churn' in line) {
        figures.push(figuresOf(services, line.heldChurnPerSecond));
        services = [];
      } else isDone = true;
    },
    {
      measured: 'propagation',
      slow: 'Try fewer changes (--churn), or a time when the cluster has less to do.',
      failed:
        'Check that nothing keeps the pod from the API server, and that no policy refuses Services in the namespace of the run.',
    },
  );
  return {
    onLine: lines.onLine,
    figures() {
      if (lines.stopped !== null) throw lines.stopped;
      if (isDone) return figures;
      throw new BenchError(
        'E_LOADER_FAILED',
        'the pod of the private CoreDNS ended before everything was measured',
        { fix: '`kubectl get events` may say why. Use --resume to measure the rest.' },
      );
    },
  };
}
