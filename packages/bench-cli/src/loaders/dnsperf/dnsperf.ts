/** The reference loader: dnsperf, run as it is, with its raw output kept and its CPU counted. */
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { QUERY_PATH } from '../cluster-job.ts';
import { behindGate } from '../gate/gate.ts';
import { createJobLoader } from '../job-loader.ts';
import type { Loader } from '../loader.ts';
import { createLocalLoader, type LocalLoaderOptions } from '../local-loader.ts';
import { dnsperfArguments } from './command.ts';
import { DNSPERF } from './parse.ts';

export interface DnsperfOptions extends LocalLoaderOptions {
  /** Path of the dnsperf executable. */
  readonly executable: string;
  readonly version: string;
}

/** A loader that runs dnsperf on this machine. */
export function createDnsperf({ executable, version, ...options }: DnsperfOptions): Loader {
  return createLocalLoader(options, {
    ...DNSPERF,
    ...{ executable, version },
    fix: 'Run `bench doctor --fix`.',
    command: async (request) => behindGate(request.gate, [executable, ...dnsperfArguments(request)]),
  });
}

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
