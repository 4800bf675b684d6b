/** dnsperf as a Job in the cluster: the same arguments and the same parser as on this machine. */
import { BenchError } from '../../errors.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { QUERY_PATH } from '../cluster-job.ts';
import { behindGate } from '../gate/gate.ts';
import { createJobLoader, type JobProgram } from '../job-loader.ts';
import type { Loader } from '../loader.ts';
import { dnsperfArguments } from './command.ts';
import { countsOf, isStartOfSending, parseDnsperf, parseInterval } from './parse.ts';

const DNSPERF: Omit<JobProgram, 'version'> = {
  kind: 'dnsperf',
  allLostPattern: 'Queries lost: .*(100\\.00%)',
  command: (request) =>
    behindGate(request.gate, ['dnsperf', ...dnsperfArguments({ ...request, queryFile: QUERY_PATH })]),
  hear: (line, request) => {
    if (isStartOfSending(line)) request.onStarted();
    const interval = parseInterval(line);
    if (interval !== null) request.onProgress(interval.qps);
  },
  outcomeOf: ({ lines, exitCode, pod }) => {
    const report = parseDnsperf(lines);
    const { result, complaints } = report;
    if (result === null || exitCode !== 0) {
      throw new BenchError('E_LOADER_FAILED', `dnsperf failed (exit status ${exitCode}) in pod ${pod}`, {
        evidence: (complaints.length > 0 ? complaints : lines).slice(-10),
        fix: 'Its message is above; the whole output is in the run folder under raw/.',
      });
    }
    return { result, wasTheLimit: null, counts: countsOf(report) };
  },
};

/** A loader that runs dnsperf in the cluster. */
export function createDnsperfJob(run: ClusterRun, version: string): Loader {
  return createJobLoader(run, { ...DNSPERF, version });
}
