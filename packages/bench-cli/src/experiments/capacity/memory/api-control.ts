/** The controls of our API server, and the HTTP endpoints of CoreDNS, as a measurement uses them. */
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';

/** Both programs are on this machine; one that is busy for this long hangs. */
const REQUEST_SECONDS = 60;

const statusSchema = z.object({
  reads: z.record(z.string(), z.number()),
  openWatches: z.number(),
  rssBytes: z.number(),
});
export type ApiStatus = z.output<typeof statusSchema>;

/** What they are named in errors. */
type Where = 'the API server' | 'CoreDNS';

/**
 * An idle connection may be closed by the other side at the moment of its reuse, above all on a busy machine: then the
 * request goes out again, on a new one. To repeat any of these requests changes nothing.
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
    throw new BenchError('E_NO_ANSWER', `${where} does not answer ${method} ${url}: ${reason}`, {
      fix: 'Its log is in the run folder under raw/.',
      cause,
    });
  }
}

export interface ApiControl {
  status(): Promise<ApiStatus>;
  /** 410 Gone for everybody: everything is read again. */
  expire(): Promise<void>;
  /** Creates and deletes Services, together this many a second; 0 stops. */
  churn(perSecond: number): Promise<void>;
}

export function apiControl(port: number, signal: AbortSignal): ApiControl {
  const base = `http://127.0.0.1:${port}/control`;
  return {
    status: async () =>
      statusSchema.parse(JSON.parse(await request('the API server', `${base}/status`, 'GET', signal))),
    expire: async () => {
      await request('the API server', `${base}/expire`, 'POST', signal);
    },
    churn: async (perSecond) => {
      await request('the API server', `${base}/churn?rate=${perSecond}`, 'POST', signal);
    },
  };
}

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
