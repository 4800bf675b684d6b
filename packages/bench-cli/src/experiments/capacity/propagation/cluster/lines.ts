/** What the program beside a private CoreDNS prints about propagation, and the trials that are made of it. Pure. */
import { z } from 'zod';
import { BenchError } from '../../../../errors.ts';
import { parseLine } from '../../../../process.ts';
import type { PropagationEvidence } from '../evidence.ts';

const seconds = z.number().nonnegative();

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
  z.object({ ended: z.string() }),
  z.object({ slow: z.string() }),
  z.object({ failed: z.string() }),
]);

export interface PropagationReader {
  onLine(line: string): void;
  /**
   * @throws BenchError `E_CLUSTER_REFUSED` if the API server got slow, `E_SERVER_DIED` if CoreDNS ended, `E_LOADER_FAILED` if
   * anything else came between
   */
  demandComplete(): void;
}

type Service = Extract<z.output<typeof lineSchema>, { service: unknown }>['service'];

function figuresOf(services: readonly Service[], heldChurnPerSecond: number): PropagationEvidence {
  const resolved = services.filter(({ delaySeconds }) => delaySeconds !== null);
  return {
    delaysSeconds: resolved.map(({ delaySeconds }) => delaySeconds ?? 0),
    resolutionsSeconds: resolved.map(({ resolutionSeconds = 0 }) => resolutionSeconds),
    creationSeconds: resolved.map(({ creationSeconds = 0 }) => creationSeconds),
    unresolved: services.length - resolved.length,
    queries: services.reduce((sum, { queries }) => sum + queries, 0),
    heldChurnPerSecond,
  };
}

/** `onService` is called with how many Services of a rate are over, `onRate` when all of them are. */
export function readPropagation(
  onService: (done: number) => void,
  onRate: (figures: PropagationEvidence) => void,
): PropagationReader {
  let services: Service[] = [];
  let isDone = false;
  let stopped: BenchError | null = null;
  return {
    onLine(line) {
      const parsed = parseLine(lineSchema, line);
      if (parsed === null) return;
      if ('service' in parsed) {
        services.push(parsed.service);
        onService(services.length);
      } else if ('churn' in parsed) {
        onRate(figuresOf(services, parsed.heldChurnPerSecond));
        services = [];
      } else if ('done' in parsed) isDone = true;
      else stopped = stopOf(parsed);
    },
    demandComplete() {
      if (stopped !== null) throw stopped;
      if (isDone) return;
      throw new BenchError(
        'E_LOADER_FAILED',
        'the pod of the private CoreDNS ended before everything was measured',
        {
          fix: '`kubectl get events` may say why. Use --resume to measure the rest.',
        },
      );
    },
  };
}

function stopOf(
  line: { readonly ended: string } | { readonly slow: string } | { readonly failed: string },
): BenchError {
  if ('slow' in line) {
    return new BenchError('E_CLUSTER_REFUSED', `the API server got slow: ${line.slow}`, {
      evidence: ['What was created is deleted again'],
      fix: 'Try fewer changes (--churn), or a time when the cluster has less to do.',
    });
  }
  if ('ended' in line) {
    return new BenchError('E_SERVER_DIED', line.ended, { fix: 'See whether the node ran out of memory.' });
  }
  return new BenchError('E_LOADER_FAILED', `propagation could not be measured: ${line.failed}`, {
    fix: 'Check that nothing keeps the pod from the API server, and that no policy refuses Services in the namespace of the run.',
  });
}
