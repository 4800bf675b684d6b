/** dnsperf as a Job in the cluster: the same arguments and the same parser as on this machine. */
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { QUERY_PATH } from '../cluster-job.ts';
import { behindGate } from '../gate/gate.ts';
import { createJobLoader } from '../job-loader.ts';
import type { Loader } from '../loader.ts';
import { dnsperfArguments } from './command.ts';
import { DNSPERF } from './parse.ts';

/** A loader that runs dnsperf in the cluster. */
export function createDnsperfJob(run: ClusterRun, version: string): Loader {
  return createJobLoader(run, {
    ...DNSPERF,
    version,
    allLostPattern: 'Queries lost: .*(100\\.00%)',
    command: (request) =>
      behindGate(request.gate, ['dnsperf', ...dnsperfArguments({ ...request, queryFile: QUERY_PATH })]),
  });
}
