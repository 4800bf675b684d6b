/** A load generator that runs as Jobs in a cluster: a Job for each load, or one for several that follow each other. */
import { BenchError } from '../errors.ts';
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import type { ConfigMapMount } from '../targets/kubernetes/objects/pods.ts';
import {
  createQueryUpload,
  keepOutput,
  loaderObservation,
  nodeOf,
  parseTimes,
  runLoaderJob,
  secondsOfLoad,
  timedCommand,
} from './cluster-job.ts';
import { openGateJob } from './gate/gate-job.ts';
import { parseSteps, type Step, stepOfLine, stepsCommand } from './job-steps.ts';
import type { Loader, LoaderProgram, LoadOutcome, LoadRequest, LoadTurn, ProgramOutput } from './loader.ts';

/** A load generator in an image. */
export interface JobProgram extends LoaderProgram {
  readonly version: string;
  /** Found in the output of a load of which no query was answered: a basic regular expression. */
  readonly allLostPattern: string;
  command(request: LoadRequest): readonly string[];
}

interface JobLoader {
  readonly run: ClusterRun;
  readonly program: JobProgram;
  readonly upload: (request: LoadRequest) => Promise<ConfigMapMount>;
}

/** What the shell needs between two steps, and a program to start, with room to spare. */
const STEP_OVERHEAD_SECONDS = 1;

/** The loader of a program. */
export function createJobLoader(run: ClusterRun, program: JobProgram): Loader {
  const loader: JobLoader = { run, program, upload: createQueryUpload(run) };
  const { kind, version } = program;
  return {
    kind,
    version,
    openGate: (request) => openGateJob(run, request),
    load: (request) => loadAlone(loader, request),
    loadInTurn: (requests) => loadInTurn(loader, requests),
  };
}

const outputOf = (lines: readonly string[], exitCode: number | null, pod = ''): ProgramOutput => ({
  ...{ lines, exitCode, end: `(exit status ${exitCode}) in pod ${pod}` },
});

async function loadAlone({ run, program, upload }: JobLoader, request: LoadRequest): Promise<LoadOutcome> {
  const command = program.command(request);
  // At the gate it waits until the pods of the others have started.
  const waitSeconds = request.gate === undefined ? 0 : run.settings.readyTime;
  const job = await runLoaderJob(run, {
    ...timedCommand(command),
    queries: await upload(request),
    cpu: request.cpu,
    ...(request.onNode === undefined ? {} : { onNode: request.onNode }),
    runSeconds: waitSeconds + secondsOfLoad(request),
    onLine: (line) => program.hear(line, request),
    signal: request.signal,
  });
  const { lines, exitCode } = job;
  await keepOutput(run, request, lines);
  const outcome = program.outcomeOf(outputOf(lines, exitCode, job.pod.metadata?.name));
  return {
    ...outcome,
    observation: loaderObservation(parseTimes(lines), outcome.result.runTimeSeconds),
    command,
    ...nodeOf(job),
  };
}

async function loadInTurn(
  { run, program, upload }: JobLoader,
  requests: readonly LoadRequest[],
): Promise<LoadTurn[]> {
  const [first] = requests;
  if (first === undefined) return [];
  const steps = requests.map((request) => ({
    command: program.command(request),
    group: `${request.endpoint.address}:${request.endpoint.port}`,
  }));
  const job = await runLoaderJob(run, {
    ...stepsCommand(steps, { pattern: program.allLostPattern }),
    queries: await upload(first),
    cpu: first.cpu,
    runSeconds: requests.reduce((sum, request) => sum + secondsOfLoad(request) + STEP_OVERHEAD_SECONDS, 0),
    onLine: listener(program, requests),
    signal: first.signal,
  });
  const ended = parseSteps(job.lines);
  for (const [index, request] of requests.entries())
    await keepOutput(run, request, ended.get(index)?.lines ?? []);
  const place: Place = {
    pod: job.pod.metadata?.name,
    node: nodeOf(job),
    beganAt: ended.get(0)?.startedAtSeconds ?? null,
  };
  return steps.map(({ command }, index) => {
    const step = ended.get(index);
    return step === undefined ? omitted() : turnOf(program, command, step, place);
  });
}

/** Passes each line to the request whose step it belongs to. A step's own lines come when it has ended. */
function listener(program: JobProgram, requests: readonly LoadRequest[]): (line: string) => void {
  let current: LoadRequest | undefined;
  return (line) => {
    const index = stepOfLine(line);
    if (index !== null) {
      requests[index]?.onStarted();
      current = requests[index];
    } else if (current !== undefined) {
      program.hear(line, { ...current, onStarted: () => undefined });
    }
  };
}

interface Place {
  readonly pod: string | undefined;
  readonly node: Pick<LoadOutcome, 'node'>;
  /** The start of the first step, UNIX time. */
  readonly beganAt: number | null;
}

function turnOf(
  program: JobProgram,
  command: readonly string[],
  { lines, exitCode, cpuSeconds, startedAtSeconds }: Step,
  { pod, node, beganAt }: Place,
): LoadTurn {
  const atSeconds =
    startedAtSeconds === null || beganAt === null ? null : Math.max(0, startedAtSeconds - beganAt);
  try {
    const outcome = program.outcomeOf(outputOf(lines, exitCode, pod));
    const observation = loaderObservation(cpuSeconds, outcome.result.runTimeSeconds);
    return { atSeconds, ended: { ...outcome, observation, command, ...node } };
  } catch (error) {
    if (error instanceof BenchError) return { atSeconds, ended: error };
    throw error;
  }
}

function omitted(): LoadTurn {
  const ended = new BenchError(
    'E_LOADER_FAILED',
    'the load was omitted, because the one before got no answer',
    {
      fix: 'See the raw output of the loads before in the run folder under raw/.',
    },
  );
  return { atSeconds: null, ended };
}
