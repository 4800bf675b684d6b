/** The controls of our API server, and the HTTP endpoints of CoreDNS, as a measurement uses them. */
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { BenchError, LateError } from '../../errors.ts';

/** Both programs are on this machine; one that is busy for this long hangs. */
const REQUEST_SECONDS = 60;

const statusSchema = z.object({
  /** How often all objects of a resource were read, and how often as lists. */
  reads: z.record(z.string(), z.number()),
  lists: z.record(z.string(), z.number()),
  openWatches: z.number(),
  rssBytes: z.number(),
  /** The latest. */
  resourceVersion: z.number(),
});

const serviceSchema = z.object({ name: z.string(), address: z.string() });
/** A Service that will be created, or another name: what it resolves to. */
export type AnnouncedService = z.output<typeof serviceSchema>;

const changeSchema = serviceSchema.extend({
  type: z.enum(['ADDED', 'DELETED']),
  /** When it was ready to be sent, on the monotonic clock of this machine: that of `Clock.monotonicSeconds`. */
  monotonicSeconds: z.number(),
});
export type ServiceChange = z.output<typeof changeSchema>;

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

export type ApiControl = ReturnType<typeof apiControl>;

export function apiControl(port: number, signal: AbortSignal) {
  const base = `http://127.0.0.1:${port}/control`;
  const ask = (method: 'GET' | 'POST', path: string) =>
    request('the API server', `${base}/${path}`, method, signal);
  const answered = async <S extends z.ZodType>(schema: S, method: 'GET' | 'POST', path: string) =>
    schema.parse(JSON.parse(await ask(method, path)));
  return {
    status: () => answered(statusSchema, 'GET', 'status'),
    /** 410 Gone for everybody: everything is read again. */
    expire: () => ask('POST', 'expire'),
    /** All endpoints of this share of the Services are replaced; resolves with names that have another address now. */
    replace: async (share: number) =>
      (await answered(z.object({ names: z.array(serviceSchema) }), 'POST', `replace?share=${share}`)).names,
    /** Nobody can reach it for a while, this control neither; then it knows no earlier version. */
    outage: (seconds: number) => ask('POST', `outage?seconds=${seconds}`),
    /** Creates and deletes Services, together this many a second; 0 stops. */
    churn: (perSecond: number) => ask('POST', `churn?rate=${perSecond}`),
    /** A Service is created after a while; says now which. */
    announce: async (afterSeconds: number) =>
      (await answered(z.object({ service: serviceSchema }), 'POST', `announce?after=${afterSeconds}`))
        .service,
    /** The changes after a version, the oldest first. */
    changesAfter: async (resourceVersion: number) =>
      (
        await answered(
          z.object({ changes: z.array(changeSchema) }),
          'GET',
          `changes?after=${resourceVersion}`,
        )
      ).changes,
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
