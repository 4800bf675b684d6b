/** This project's load generator as a Job in the cluster: the same program as on this machine, from its image. */
import { BenchError } from '../../errors.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { QUERY_PATH } from '../cluster-job.ts';
import { createJobLoader, type JobProgram, type ProgramOutput } from '../job-loader.ts';
import type { Loader, LoadRequest } from '../loader.ts';
import { intervalOf, parseEvent } from './events.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { askedIn, loaderCountsOf, loadResultOf } from './result.ts';

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

function failure({ exitCode, lines }: ProgramOutput): BenchError {
  return new BenchError('E_LOADER_FAILED', `the built-in loader failed (exit status ${exitCode})`, {
    evidence: lines.slice(-10),
    fix: 'Its message is above; the whole output is in the run folder under raw/.',
  });
}

const BUILTIN: Omit<JobProgram, 'version'> = {
  kind: 'builtin',
  allLostPattern: '"lostRatio":1[,}]',
  command: commandFor,
  hear: (line, request) => {
    const event = parseEvent(line);
    if (event?.event === 'started') request.onStarted();
    if (event?.event === 'interval') request.onProgress(event.qps);
  },
  outcomeOf: (output) => {
    const events = output.lines.flatMap((line) => parseEvent(line) ?? []);
    const end = events.findLast(({ event }) => event === 'result' || event === 'error');
    if (end?.event === 'error') {
      throw new BenchError('E_LOADER_FAILED', `the built-in loader failed: ${end.message}`, {
        evidence: [end.code],
        fix: `${end.fix}.`,
      });
    }
    if (end?.event !== 'result') throw failure(output);
    const intervals = events.filter((event) => event.event === 'interval');
    return {
      result: loadResultOf(
        end.result,
        intervals.map(({ toSeconds, qps }) => ({ atSeconds: toSeconds, qps })),
      ),
      wasTheLimit: end.result.generator.wasTheLimit,
      counts: loaderCountsOf(end.result),
      timeline: intervals.map(intervalOf),
      ...askedIn(end.result),
    };
  },
};

/** A loader that runs the load generator in the cluster. */
export function createBuiltinJob(run: ClusterRun, version: string): Loader {
  return createJobLoader(run, { ...BUILTIN, version });
}
