/** This project's load generator as a Job in the cluster: the same program as on this machine, from its image. */
import type { DriverEvent } from '@dinodns-bench/load';
import { BenchError } from '../../errors.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { createQueryUpload, loaderObservation, nodeOf, QUERY_PATH, runLoaderJob } from '../cluster-job.ts';
import { openGateJob } from '../gate/gate-job.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../loader.ts';
import { parseEvent } from './events.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { loaderCountsOf, loadResultOf } from './result.ts';

/** Its path in the image of k8s/images/load. */
const DRIVER = '/app/packages/load/src/driver.ts';

function commandFor(request: LoadRequest): string[] {
  const { json, fits } = driverOptions({ ...request, queryFile: QUERY_PATH });
  if (!fits)
    throw new BenchError(
      'E_CONFIG',
      `the workload's options take ${Math.ceil(json.length / 1024)} KiB, and a container's argument at most 128`,
      { fix: 'Look up fewer names: fewer zones, or fewer services.' },
    );
  return ['node', ...GENERATOR_NODE_FLAGS, DRIVER, ...driverArguments(json, request)];
}

type End = Extract<DriverEvent, { readonly event: 'result' | 'error' }>;

function failure(end: End | undefined, exitCode: number | null, lines: readonly string[]): BenchError {
  return end?.event === 'error'
    ? new BenchError('E_LOADER_FAILED', `the built-in loader failed: ${end.message}`, {
        evidence: [end.code],
        fix: `${end.fix}.`,
      })
    : new BenchError('E_LOADER_FAILED', `the built-in loader failed (exit status ${exitCode})`, {
        evidence: lines.slice(-10),
        fix: 'Its message is above; the whole output is in the run folder under raw/.',
      });
}

/** A loader that runs the load generator in the cluster. */
export function createBuiltinJob(run: ClusterRun, version: string): Loader {
  const upload = createQueryUpload(run);
  return {
    kind: 'builtin',
    version,
    openGate: (request) => openGateJob(run, request),
    async load(request): Promise<LoadOutcome> {
      const program = commandFor(request);
      const intervals: { atSeconds: number; qps: number }[] = [];
      const heard: { end?: End } = {};
      const outcome = await runLoaderJob(run, request, await upload(request), program, (line) => {
        const event = parseEvent(line);
        if (event?.event === 'started') request.onStarted();
        if (event?.event === 'interval') {
          intervals.push({ atSeconds: event.toSeconds, qps: event.qps });
          request.onProgress(event.qps);
        }
        if (event?.event === 'result' || event?.event === 'error') heard.end = event;
      });
      const { lines, exitCode } = outcome;
      const { end } = heard;
      if (end?.event !== 'result') throw failure(end, exitCode, lines);
      return {
        result: loadResultOf(end.result, intervals),
        observation: loaderObservation(lines, end.result.elapsedSeconds),
        command: program,
        wasTheLimit: end.result.generator.wasTheLimit,
        counts: loaderCountsOf(end.result),
        ...nodeOf(outcome),
      };
    },
  };
}
