/** This project's load generator as a Job in the cluster: the same program as on this machine, from its image. */
import { BenchError } from '../../errors.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { QUERY_PATH } from '../cluster-job.ts';
import { createJobLoader } from '../job-loader.ts';
import type { Loader, LoadRequest } from '../loader.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { BUILTIN } from './result.ts';

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

/** A loader that runs the load generator in the cluster. */
export function createBuiltinJob(run: ClusterRun, version: string): Loader {
  return createJobLoader(run, {
    ...BUILTIN,
    version,
    allLostPattern: '"lostRatio":1[,}]',
    command: commandFor,
  });
}
