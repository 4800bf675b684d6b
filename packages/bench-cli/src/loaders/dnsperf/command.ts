/** dnsperf's command line. Pure. */
import type { LoadRequest } from '../loader.ts';

/**
 * `-q`, `-Q` and `-c` are totals that dnsperf divides over its threads. `-S 1` prints the rate of every
 * second, for the live display and the series in the record.
 */
export function dnsperfArguments(request: LoadRequest): string[] {
  const { endpoint } = request;
  return [
    '-s',
    endpoint.address,
    '-p',
    String(endpoint.port),
    '-m',
    request.transport,
    '-d',
    request.queryFile,
    '-l',
    String(request.durationSeconds),
    '-c',
    String(request.clients),
    '-T',
    String(request.threads),
    '-q',
    String(request.outstanding),
    '-t',
    String(request.timeoutSeconds),
    '-S',
    '1',
    ...(request.ratePerSecond === null ? [] : ['-Q', String(Math.max(1, Math.round(request.ratePerSecond)))]),
  ];
}
