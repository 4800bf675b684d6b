/** dnsperf's command line. Pure. */
import type { Endpoint } from '../../dns/endpoint.ts';
import type { Transport } from '../../results/record.ts';
import { type LoadRequest, reportIntervalSeconds } from '../loader.ts';

/** What decides the command line. */
export type DnsperfRequest = Pick<
  LoadRequest,
  | 'endpoint'
  | 'transport'
  | 'queryFile'
  | 'durationSeconds'
  | 'ratePerSecond'
  | 'dnssecOk'
  | 'clients'
  | 'threads'
  | 'outstanding'
  | 'timeoutSeconds'
>;

/** What dnsperf calls the transports. It does not verify certificates. */
export const MODES: Readonly<Record<Transport, string>> = {
  udp: 'udp',
  tcp: 'tcp',
  tls: 'dot',
  https: 'doh',
};

/** The message goes in the body, as dnscannon sends it; dnsperf's default is GET. */
function httpsOptions({ address, port, trust }: Endpoint): string[] {
  const host = trust?.serverName ?? (address.includes(':') ? `[${address}]` : address);
  return ['-O', `doh-uri=https://${host}:${port}/dns-query`, '-O', 'doh-method=POST'];
}

/**
 * `-q`, `-Q` and `-c` are totals that dnsperf divides over its threads. `-S` prints the rate of every
 * second or less, for the live display and the series in the record.
 */
export function dnsperfArguments(request: DnsperfRequest): string[] {
  const { endpoint } = request;
  return [
    ...['-s', endpoint.address, '-p', String(endpoint.port), '-m', MODES[request.transport]],
    ...['-d', request.queryFile, '-l', String(request.durationSeconds), '-c', String(request.clients)],
    ...['-T', String(request.threads), '-q', String(request.outstanding)],
    ...['-t', String(request.timeoutSeconds)],
    ...['-S', String(reportIntervalSeconds(request.durationSeconds))],
    // With an OPT record.
    ...(request.dnssecOk ? ['-D'] : []),
    ...(request.transport === 'https' ? httpsOptions(endpoint) : []),
    ...(request.ratePerSecond === null ? [] : ['-Q', String(Math.max(1, Math.round(request.ratePerSecond)))]),
  ];
}
