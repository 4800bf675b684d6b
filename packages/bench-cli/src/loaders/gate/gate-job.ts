/** The gate as a pod of the cluster, in the image of the answer check, which has Node.js. */
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { configMapOf } from '../../targets/kubernetes/objects/config-map.ts';
import { jobOf } from '../../targets/kubernetes/objects/job.ts';
import { unitLabels, unitSelector } from '../../targets/kubernetes/objects/labels.ts';
import { runJob } from '../../targets/kubernetes/run-job.ts';
import type { GateRequest } from '../loader.ts';
import { type Gate, GateLog } from './gate.ts';

const DIRECTORY = '/gate';
const PROGRAM = 'gate.mjs';

export async function openGateJob(run: ClusterRun, request: GateRequest): Promise<Gate> {
  const { client, namespace, runId, settings, images, pullSecrets, world } = run;
  run.jobs += 1;
  const unit = `gate-${run.jobs}`;
  const labels = unitLabels(runId, 'checker', unit);
  const text = await world.fs.readFile(new URL('./gate-program.mjs', import.meta.url), 'utf8');
  const { object, mount } = configMapOf({ name: unit, namespace, labels }, 'the gate', [
    { path: PROGRAM, chunks: [text] },
  ]);
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  const runSeconds = settings.readyTime + request.runSeconds;
  const log = new GateLog();
  await client.create('ConfigMap', object, signal);
  const ended = runJob({
    client,
    namespace,
    labels: unitSelector(runId, unit),
    what: 'the gate of the loaders',
    signal,
    job: jobOf({
      name: unit,
      namespace,
      labels,
      settings,
      component: 'checker',
      image: images.checker,
      command: ['node', `${DIRECTORY}/${PROGRAM}`],
      args: [],
      env: { LOADERS: String(request.loaders) },
      mounts: { [DIRECTORY]: mount },
      pullSecrets,
      deadlineSeconds: settings.readyTime + runSeconds,
    }),
    scheduleSeconds: settings.scheduleTime,
    startSeconds: settings.readyTime,
    runSeconds,
    onLine: (line) => log.hear(line),
  }).then(
    () => undefined,
    // Only what the loaders report counts; a gate that never listens is reported here.
    (error: unknown) => log.fail(error),
  );
  const close = async () => {
    stop.abort(new Error('the gate is closed'));
    await ended;
    await client.delete('ConfigMap', unit, namespace, AbortSignal.timeout(5000)).catch(() => undefined);
  };
  try {
    return { ...(await log.listening), times: ended.then(() => log.times), close };
  } catch (error) {
    await close();
    throw error;
  }
}
