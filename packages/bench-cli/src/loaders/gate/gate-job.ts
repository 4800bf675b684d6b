/** The gate as a pod of the cluster, in the image of the answer check, which has Node.js. */
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { runOnce } from '../../targets/kubernetes/run-job.ts';
import type { GateRequest } from '../loader.ts';
import { type Gate, GateLog } from './gate.ts';

const PROGRAM = new URL('./gate-program.mjs', import.meta.url);

export async function openGateJob(run: ClusterRun, request: GateRequest): Promise<Gate> {
  const { settings, images } = run;
  const stop = new AbortController();
  const log = new GateLog();
  const ended = runOnce(run, {
    ...{ name: 'gate', label: 'checker', image: images.checker, what: 'the gate of the loaders' },
    ...{ program: PROGRAM, env: { LOADERS: String(request.loaders) } },
    runSeconds: settings.readyTime + request.runSeconds,
    signal: AbortSignal.any([request.signal, stop.signal]),
    onLine: (line) => log.hear(line),
  }).then(
    () => undefined,
    // Only what the loaders report counts; a gate that never listens is reported here.
    (error: unknown) => log.fail(error),
  );
  const close = async () => {
    stop.abort(new Error('the gate is closed'));
    await ended;
  };
  try {
    return { ...(await log.listening), times: ended.then(() => log.times), close };
  } catch (error) {
    await close();
    throw error;
  }
}
