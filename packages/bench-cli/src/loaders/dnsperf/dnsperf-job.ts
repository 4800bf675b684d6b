/** dnsperf as a Job in the cluster: the same arguments and the same parser as on this machine. */
import { BenchError } from '../../errors.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { createQueryUpload, loaderObservation, nodeOf, QUERY_PATH, runLoaderJob } from '../cluster-job.ts';
import { behindGate } from '../gate/gate.ts';
import { openGateJob } from '../gate/gate-job.ts';
import type { Loader } from '../loader.ts';
import { dnsperfArguments } from './command.ts';
import { countsOf, isStartOfSending, parseDnsperf, parseInterval } from './parse.ts';

/** A loader that runs dnsperf in the cluster. */
export function createDnsperfJob(run: ClusterRun, version: string): Loader {
  const upload = createQueryUpload(run);
  return {
    kind: 'dnsperf',
    version,
    openGate: (request) => openGateJob(run, request),
    async load(request) {
      const dnsperf = ['dnsperf', ...dnsperfArguments({ ...request, queryFile: QUERY_PATH })];
      const program = behindGate(request.gate, dnsperf);
      const outcome = await runLoaderJob(run, request, await upload(request), program, (line) => {
        if (isStartOfSending(line)) request.onStarted();
        const interval = parseInterval(line);
        if (interval !== null) request.onProgress(interval.qps);
      });
      const { lines, exitCode, pod } = outcome;
      const report = parseDnsperf(lines);
      const { result, complaints } = report;
      if (result === null || exitCode !== 0) {
        throw new BenchError(
          'E_LOADER_FAILED',
          `dnsperf failed (exit status ${exitCode}) in pod ${pod.metadata?.name}`,
          {
            evidence: (complaints.length > 0 ? complaints : lines).slice(-10),
            fix: 'Its message is above; the whole output is in the run folder under raw/.',
          },
        );
      }
      return {
        result,
        observation: loaderObservation(lines, result.runTimeSeconds),
        command: program,
        wasTheLimit: null,
        counts: countsOf(report),
        ...nodeOf(outcome),
      };
    },
  };
}
