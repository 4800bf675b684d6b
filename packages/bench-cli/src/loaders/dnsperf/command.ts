/** dnsperf's command line. Pure. */
import type { LoadRequest } from '../loader.ts';

/** What decides the command line. */
export type DnsperfRequest = Pick<
  LoadRequest,
  | 'endpoint'
  | 'transport'
  | 'queryFile'
  | 'durationSeconds'
  | 'ratePerSecond'
  | 'clients'
  | 'threads'
  | 'outstanding'
  | 'timeoutSeconds'
>;

/**
 * `-q`, `-Q` and `-c` are totals that dnsperf divides over its threads. `-S 1` prints the rate of every
 * second, for the live display and the series in the record.
 */
export function dnsperfArguments(request: DnsperfRequest): string[] {
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
