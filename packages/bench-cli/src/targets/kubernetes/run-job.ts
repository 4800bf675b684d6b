/** Runs a Job and reads what it prints. */
import type { V1Job, V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import { type KubeClient, tidyingSignal } from '../../kubernetes-api/client.ts';
import { followLog } from '../../kubernetes-api/logs.ts';
import { followTo } from '../../kubernetes-api/watch.ts';
import type { ClusterRun } from './cluster-run.ts';
import type { NamedFile } from './objects/config-map.ts';
import { QUERY_DIRECTORY } from './objects/encryption.ts';
import { type JobRequest, jobOf } from './objects/job.ts';
import { type Component, unitLabels, unitSelector } from './objects/labels.ts';
import { CONTAINER } from './objects/pods.ts';
import { assessPod, isOnLostNode } from './pod-state.ts';
import { programFile, programName, uploadFiles } from './programs.ts';
import { type PodSelection, podError, waitForPods } from './wait-for-pods.ts';

export interface JobRun extends PodSelection {
  readonly job: V1Job;
  readonly scheduleSeconds: number;
  /** How long its pod may take to start. */
  readonly startSeconds: number;
  /** How long it may run from then on. */
  readonly runSeconds: number;
  /** Called with each line as it comes. */
  readonly onLine?: (line: string) => void;
  /** Called with the pod once it has started, or has already ended. */
  readonly onStart?: (pod: V1Pod) => void;
  /** Called with the pod once it has ended, before a bad end is reported. */
  readonly onEnd?: (pod: V1Pod) => void;
}

export interface JobOutcome {
  /** What it printed. */
  readonly lines: readonly string[];
  readonly pod: V1Pod;
  /** Of its container; null if Kubernetes does not say. */
  readonly exitCode: number | null;
}

/** The exit status of an ended pod; undefined for one that still runs. */
function exitOf(pod: V1Pod): { exitCode: number | null } | undefined {
  const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated;
  if (terminated !== undefined) return { exitCode: terminated.exitCode };
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded' ? { exitCode: null } : undefined;
}

/** Resolves with the pod when its container has started, or has already ended. */
async function started(run: JobRun): Promise<V1Pod> {
  const { client, namespace, labels, job, startSeconds: seconds, scheduleSeconds } = run;
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const waiting = waitForPods({ ...run, signal }, job.metadata?.name ?? '', {
    pods: 1,
    seconds,
    scheduleSeconds,
  });
  // A short Job may end before it is seen ready, with any exit status: that counts as an end.
  const ended = followTo(client, { kind: 'Pod', namespace, labels, signal }, ({ objects: [pod] }) =>
    pod !== undefined && exitOf(pod) !== undefined ? [pod] : undefined,
  );
  waiting.catch(() => undefined);
  ended.catch(() => undefined);
  try {
    const wait = waiting.catch((error: unknown) => {
      // Ended with an error status or killed: `ended` sees it, and it is reported from there.
      if (error instanceof BenchError && /^E_SERVER_(START|DIED)$/.test(error.code)) return ended;
      throw error;
    });
    const [pod] = await Promise.race([wait, ended]);
    if (pod === undefined) throw new Error('a Job without a pod');
    return pod;
  } finally {
    stop.abort(new Error('the wait is over'));
  }
}

/** Nothing more is heard of such a pod, not even its end. */
function onLostNode({ what }: JobRun, { metadata, spec }: V1Pod): BenchError {
  const node = spec?.nodeName ?? 'unknown';
  return new BenchError(
    'E_LOADER_FAILED',
    `${what}: pod ${metadata?.name} ran on node ${node}, which does not answer any more`,
    { fix: `Check the node: \`kubectl describe node ${node}\`. Repeat the trial with --resume.` },
  );
}

/**
 * Creates the Job, passes on its lines as they come, and resolves when it has ended, whatever its exit status.
 * The Job is deleted in any case. Rejects with a BenchError if it cannot run or does not end.
 */
export async function runJob(run: JobRun): Promise<JobOutcome> {
  const { client, namespace, job, labels, what, runSeconds } = run;
  const name = job.metadata?.name ?? '';
  await client.create('Job', job, run.signal);
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const cancel = client.clock.after(run.startSeconds + runSeconds, () =>
    stop.abort(
      new BenchError('E_POD_TIMEOUT', `${what} did not end within ${runSeconds} seconds`, {
        fix: 'See its output in the run folder under raw/; repeat the trial with --resume.',
      }),
    ),
  );
  try {
    const pod = await started({ ...run, signal });
    run.onStart?.(pod);
    let isOver = false;
    const end = followTo(
      client,
      { kind: 'Pod', namespace, labels, signal },
      async ({ objects: [current] }) => {
        if (current === undefined) {
          throw new BenchError('E_LOADER_FAILED', `the pod of ${what} was deleted while it ran`, {
            fix: '`kubectl get events` shows who deleted it. Repeat the trial with --resume.',
          });
        }
        const exit = exitOf(current);
        if (exit === undefined && isOnLostNode(current)) throw onLostNode(run, current);
        if (exit === undefined) return undefined;
        run.onEnd?.(current);
        const verdict = assessPod(current);
        const byKubernetes = verdict.kind === 'failed' && verdict.code === 'E_SERVER_DIED';
        if (byKubernetes) throw await podError({ ...run, signal }, current, verdict);
        isOver = true;
        return { pod: current, exitCode: exit.exitCode };
      },
    );
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      run.onLine?.(line);
    };
    const log = followLog(
      client,
      { namespace, pod: pod.metadata?.name ?? '', container: CONTAINER },
      { onLine, ended: () => isOver, signal },
    );
    const [outcome] = await Promise.all([end, log]);
    return { ...outcome, lines };
  } catch (error) {
    if (stop.signal.aborted && !run.signal.aborted) throw stop.signal.reason;
    throw error;
  } finally {
    cancel();
    stop.abort(new Error('the Job is over'));
    await removeAfter(client, 'Job', name, namespace, run.signal);
  }
}

/** Also after Ctrl-C; the namespace of the run takes what is left. */
async function removeAfter(
  client: KubeClient,
  kind: 'Job' | 'ConfigMap',
  name: string,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(kind, name, namespace, tidyingSignal(signal)).catch(() => undefined);
}

/** What everything that runs once in the namespace of a run shares. */
export type OnceRun = Pick<
  ClusterRun,
  'client' | 'namespace' | 'runId' | 'settings' | 'pullSecrets' | 'jobs'
>;

/** A pod that runs once in the namespace of a run. */
export interface OnceRequest
  extends Pick<
      JobRequest,
      | ('image' | 'command' | 'env' | 'resources' | 'mounts' | 'node' | 'needsBindService' | 'inNodeNetwork')
      | 'change'
    >,
    Pick<JobRun, 'what' | 'signal' | 'runSeconds' | 'onLine' | 'onStart' | 'onEnd'> {
  /** Its name, with a number behind it unless it is unique by itself. */
  readonly name: string;
  readonly isUnique?: true;
  readonly label: Component;
  /** Of whose kind its placement is. Default: `label`. */
  readonly component?: Component;
  /** Default: none. */
  readonly args?: readonly string[];
  /** One of ours, which runs instead of a command. Default: none. */
  readonly program?: URL;
  /** Of its own, which go with it, beside the program. Default: none. */
  readonly files?: {
    /** Default: `QUERY_DIRECTORY`. */
    readonly directory?: string;
    readonly list: Iterable<NamedFile>;
  };
}

/** Runs it to its end, with the limits of the run. @throws as `runJob` */
export async function runOnce(run: OnceRun, request: OnceRequest): Promise<JobOutcome> {
  const { client, namespace, runId, settings, pullSecrets } = run;
  const { label, component = label, args = [], program, what, signal, runSeconds } = request;
  const { directory = QUERY_DIRECTORY, list = [] } = request.files ?? {};
  run.jobs += 1;
  const unit = request.isUnique ? request.name : `${request.name}-${run.jobs}`;
  const labels = unitLabels(runId, label, unit);
  const files = [...list, ...(program === undefined ? [] : [programFile(program)])];
  const mount =
    files.length === 0
      ? null
      : await uploadFiles(run, { name: unit, labels, what: `the files of ${what}`, files }, signal);
  try {
    return await runJob({
      ...request,
      ...{ client, namespace },
      labels: unitSelector(runId, unit),
      job: jobOf({
        ...request,
        ...{ name: unit, namespace, labels, settings, component, args, pullSecrets },
        ...(mount === null ? {} : { mounts: { ...request.mounts, [directory]: mount } }),
        ...(program === undefined ? {} : { command: ['node', `${directory}/${programName(program)}`] }),
        deadlineSeconds: settings.readyTime + runSeconds,
      }),
      scheduleSeconds: settings.scheduleTime,
      startSeconds: settings.readyTime,
    });
  } finally {
    if (mount !== null) await removeAfter(client, 'ConfigMap', unit, namespace, signal);
  }
}
