/** The controls of an API server that another process runs: what `control.ts` answers, typed. */
import type { AnnouncedService, ServiceChange } from './churn.ts';
import type { ReplacedName } from './rollout.ts';
import type { Served } from './server.ts';

/** What the server says of itself. */
export interface ControlStatus extends Served {
  /** The latest. */
  readonly resourceVersion: number;
  readonly objects: Readonly<Record<string, number>>;
  readonly openWatches: number;
  readonly rssBytes: number;
}

/** Sends a request to a path of the server; resolves with the text of a good answer. */
export type AskServer = (method: 'GET' | 'POST', path: string) => Promise<string>;

export type ServerControls = ReturnType<typeof controlsOver>;

export function controlsOver(ask: AskServer) {
  const answered = async <T>(method: 'GET' | 'POST', path: string): Promise<T> =>
    JSON.parse(await ask(method, `/control/${path}`));
  return {
    status: () => answered<ControlStatus>('GET', 'status'),
    /** 410 Gone for everybody: everything is read again. */
    expire: () => answered('POST', 'expire'),
    /** All endpoints of this share of the Services are replaced; resolves with names that have another address now. */
    replace: async (share: number) =>
      (await answered<{ names: readonly ReplacedName[] }>('POST', `replace?share=${share}`)).names,
    /** Nobody can reach it for a while, this control neither; then it knows no earlier version. */
    outage: (seconds: number) => answered('POST', `outage?seconds=${seconds}`),
    /** Creates and deletes Services, together this many a second; 0 stops. */
    churn: (perSecond: number) => answered('POST', `churn?rate=${perSecond}`),
    /** A Service is created after a while; says now which. */
    announce: async (afterSeconds: number) =>
      (await answered<{ service: AnnouncedService }>('POST', `announce?after=${afterSeconds}`)).service,
    /** The changes after a version, the oldest first. */
    changesAfter: async (resourceVersion: number) =>
      (await answered<{ changes: readonly ServiceChange[] }>('GET', `changes?after=${resourceVersion}`))
        .changes,
  };
}
