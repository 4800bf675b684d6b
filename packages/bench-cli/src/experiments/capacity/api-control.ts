/** The controls of our API server, and the HTTP endpoints of CoreDNS, as a measurement uses them. */
import { controlsOver, type ServerControls } from '@dinodns-bench/cluster-objects';
import { messageOf } from '@dinodns-bench/program';
import { BenchError, LateError } from '../../errors.ts';

export type { AnnouncedService } from '@dinodns-bench/cluster-objects';

/** Both programs are on this machine; one that is busy for this long hangs. */
const REQUEST_SECONDS = 60;

/** What they are named in errors. */
type Where = 'the API server' | 'CoreDNS';

/**
 * An idle connection may be closed by the other side at the moment of its reuse, especially on a busy machine: then the
 * request goes out again, on a new one. To repeat any of these requests changes no figure: a Service that was announced
 * twice is one more change.
 */
const ATTEMPTS = 3;

async function fetchPatiently(url: string, method: 'GET' | 'POST', signal: AbortSignal): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const late = AbortSignal.timeout(REQUEST_SECONDS * 1000);
    try {
      return await fetch(url, { method, signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted || attempt === ATTEMPTS) throw error;
    }
  }
}

async function request(
  where: Where,
  url: string,
  method: 'GET' | 'POST',
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await fetchPatiently(url, method, signal);
    const text = await response.text();
    if (!response.ok) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
    return text;
  } catch (cause) {
    signal.throwIfAborted();
    const reason =
      cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
    const Kind = where === 'CoreDNS' ? LateError : BenchError;
    throw new Kind('E_NO_ANSWER', `${where} does not answer ${method} ${url}: ${reason}`, {
      fix: 'Its log is in the run folder under raw/.',
      cause,
    });
  }
}

export type ApiControl = ServerControls;

export const apiControl = (port: number, signal: AbortSignal): ApiControl =>
  controlsOver((method, path) =>
    request('the API server', `http://127.0.0.1:${port}${path}`, method, signal),
  );

/** Whether CoreDNS says that all its plugins are ready. False as well while it does not listen yet. */
export async function isCorednsReady(port: number, signal: AbortSignal): Promise<boolean> {
  const late = AbortSignal.timeout(REQUEST_SECONDS * 1000);
  const answer = await fetch(`http://127.0.0.1:${port}/ready`, {
    signal: AbortSignal.any([signal, late]),
  }).catch(() => null);
  signal.throwIfAborted();
  await answer?.body?.cancel();
  return answer?.ok === true;
}

/** Its metrics, in the text format of Prometheus. */
export function corednsMetrics(port: number, signal: AbortSignal): Promise<string> {
  return request('CoreDNS', `http://127.0.0.1:${port}/metrics`, 'GET', signal);
}
