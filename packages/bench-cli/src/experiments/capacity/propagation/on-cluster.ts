/** Propagation on a cluster: starts of a private CoreDNS, in whose pod Services are created and asked for until they resolve. */
import { specForObjects } from '@dinodns-bench/cluster-objects';
import { z } from 'zod';
import { endedAfter } from '../../../engine/close.ts';
import type {
  Measuring,
  Opened,
  PlannedTrial,
  TargetRequest,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { BenchError, errorsOf } from '../../../errors.ts';
import { seconds } from '../../../results/record-units.ts';
import { unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { type OnceRun, runOnce } from '../../../targets/kubernetes/run-job.ts';
import { type LineReader, readLines } from '../beside/read-lines.ts';
import { SERVICE_RULE } from '../cluster/dns-account.ts';
import { dnsPod } from '../cluster/dns-job.ts';
import { endIfRefused, openStarts } from '../cluster/open-starts.ts';
import { removeServices } from '../cluster/start-dns.ts';
import { SERVICE_LABELS } from '../cluster/synthetic-objects.ts';
import { openSyntheticRun } from '../cluster/synthetic-run.ts';
import { CONFIGURATIONS, type ConfigurationName } from '../configurations.ts';
import { evidenceOf, hasResolved, loadOf, type PropagationEvidence } from './evidence.ts';
import { type PropagationSettings, pollSecondsOf } from './settings.ts';

/** What the program beside CoreDNS prints besides the lines of `readLines`. */
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

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

interface StartRequest {
  /** `trial-1` */
  readonly unit: string;
  readonly corednsImage: string;
  readonly configuration: ConfigurationName;
  /** Changes a second. */
  readonly churn: number;
  readonly settings: Pick<PropagationSettings, 'services' | 'timeout' | 'poll' | 'target'>;
  readonly signal: AbortSignal;
}

/** A start of CoreDNS, measured; its Services are gone at the end, or the next start would read them as well. */
export async function measureStart(
  run: OnceRun,
  { unit, corednsImage, configuration, churn, settings, signal }: StartRequest,
  on: Pick<TrialEvents, 'phase' | 'files'>,
  server: string,
): Promise<PropagationEvidence> {
  const { services, timeout } = settings;
  const { cache = 'on' } = CONFIGURATIONS[configuration];
  const reader = readPropagation((done) => on.phase(`${done} of ${services} Services`));
  const pod = dnsPod(run.settings, run.namespace, {
    corednsImage,
    corefile: { cache },
    reads: 'by itself',
    entry: 'propagation.mjs',
    env: {
      CHURN: String(churn),
      SERVICES: String(services),
      POLL_MS: String(pollSecondsOf(settings) * 1000),
      TIMEOUT_SECONDS: String(timeout),
      PREFIX: unit,
      LABELS: JSON.stringify({ ...SERVICE_LABELS, ...unitSelector(run.runId, unit) }),
    },
  });
  on.files(server, { Corefile: pod.corefile });
  const request = { ...pod, name: unit, isUnique: true, signal, onLine: reader.onLine } as const;
  const runSeconds = SECONDS_BESIDE + services * SECONDS_PER_SERVICE + timeout;
  await endedAfter(
    () => runOnce(run, { ...request, runSeconds }),
    // At the end of a run, they go with the namespace.
    async () => (signal.aborted ? [] : removeServices(run, { unit, signal }).then(() => [], errorsOf)),
  );
  const [evidence] = reader.figures();
  if (evidence === undefined) throw new Error('no figures');
  return evidence;
}

export async function openOnCluster(
  request: TargetRequest<PropagationSettings>,
): Promise<Opened<Measuring<PropagationEvidence>>> {
  const { settings } = request;
  const { objectsOf, imageOf, signal, opened } = await openStarts(request, {
    withPods: false,
    podRules: [SERVICE_RULE],
    nameOf: String,
    openObjects: (place, objects: number) =>
      openSyntheticRun({ ...place, size: specForObjects(objects), withPods: false }),
  });

  async function measure(
    { order, case: { subject, point } }: PlannedTrial,
    on: TrialEvents,
  ): Promise<PropagationEvidence> {
    const { objects, churn } = loadOf(subject);
    const server = String(point.server);
    // The plan has no others.
    const configuration = point.configuration as ConfigurationName;
    const start = { unit: `trial-${order + 1}`, corednsImage: imageOf(server), configuration, churn };
    try {
      const run = await objectsOf(objects);
      on.phase('starting');
      return await measureStart(run, { ...start, settings, signal }, on, server);
    } catch (error) {
      throw endIfRefused(error);
    }
  }

  return { ...opened, conditions: {}, context: { measure } };
}
