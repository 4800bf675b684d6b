/** The reference loader: dnsperf, run as it is, with its raw output kept and its CPU counted. */
import { BenchError } from '../../errors.ts';
import type { RunningProcess } from '../../process.ts';
import { behindGate } from '../gate/gate.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../loader.ts';
import { createLocalLoader, type LocalLoaderOptions } from '../local-loader.ts';
import { dnsperfArguments } from './command.ts';
import { countsOf, isStartOfSending, parseDnsperf, parseInterval } from './parse.ts';

export interface DnsperfOptions extends LocalLoaderOptions {
  /** Path of the dnsperf executable. */
  readonly executable: string;
  readonly version: string;
}

/** A loader that runs dnsperf on this machine. */
export function createDnsperf({ executable, version, ...options }: DnsperfOptions): Loader {
  return createLocalLoader(options, {
    ...{ kind: 'dnsperf', version, title: 'dnsperf', executable },
    fix: 'Run `bench doctor --fix`.',
    async prepare(request) {
      const lines: string[] = [];
      const onLine = (line: string) => {
        lines.push(line);
        if (isStartOfSending(line)) request.onStarted();
        const interval = parseInterval(line);
        if (interval !== null) request.onProgress(interval.qps);
      };
      return {
        command: behindGate(request.gate, [executable, ...dnsperfArguments(request)]),
        onStdoutLine: onLine,
        onStderrLine: onLine,
        outcomeOf: (running) => ({ ...resultOf(lines, running, request), wasTheLimit: null }),
      };
    },
  });
}

function resultOf(
  lines: readonly string[],
  running: RunningProcess,
  request: LoadRequest,
): Pick<LoadOutcome, 'result' | 'counts'> {
  const report = parseDnsperf(lines);
  if (report.result === null || running.exit?.code !== 0) {
    const how = running.exit?.signal ?? `exit status ${running.exit?.code}`;
    throw new BenchError('E_LOADER_FAILED', `dnsperf failed (${how}) against port ${request.endpoint.port}`, {
      evidence: report.complaints.length > 0 ? report.complaints.slice(-10) : running.lastLines.slice(-10),
      fix: 'Its message is above; the whole output is in the run folder under raw/.',
    });
  }
  return { result: report.result, counts: countsOf(report) };
}
