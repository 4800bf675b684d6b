/**
 * A profile is one way to build a DinoDNS server from networks, middleware and a store. The rest of this package
 * runs it: one process or many, readiness, reload, stop. A faster network or answer table goes here and nowhere
 * else.
 */
import type { DefaultServer } from 'dinodns/common/server/index.js';
import type { Ports } from '../endpoint/ports.ts';
import type { WorkerSnapshot } from '../metrics/counters.ts';
import type { Pem } from '../network/tls-credentials.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Zones } from '../store/load.ts';

/** What a server reads from files beside its zones, as text: the primary sends it to its workers. */
export interface Secrets {
  /** Those of cookies, in hexadecimal digits. */
  readonly cookies: readonly string[];
  /** Absent without TLS. */
  readonly pem?: Pem;
}

/** What a server with this package's networks and store can do besides serving. */
export interface Managed {
  /**
   * Builds the replacement for the present zones and secrets; calling the result swaps it in at once. Rejects with a
   * `ServerError`, and then nothing has changed.
   */
  prepare(zones: Zones, secrets: Secrets): Promise<() => void>;
  snapshot(): WorkerSnapshot;
}

/** A server of one process, not yet bound. */
export interface BuiltServer {
  /** The framework's server; middleware and handlers may be added until it is opened. */
  readonly server: DefaultServer;
  /** Null for a server that we only watch: in mode `multi`, the framework itself starts its processes. */
  readonly managed: Managed | null;
  /** The UDP backend: `native` or `dgram`. Before the sockets are open, the expected one. */
  readonly udpBackend: string;
  /**
   * Binds all networks and serves; a server that we only watch loads its zones first. Rejects with a `ServerError` if that fails.
   */
  open(ports: Ports): Promise<void>;
  /** Answers the queries received so far and closes; gives up after `seconds`. */
  shutdown(seconds: number): Promise<void>;
}

export interface Profile {
  /** Why these options cannot be served, and the fix; null if they can. */
  unsupported(options: ResolvedOptions): { readonly reason: string; readonly fix: string } | null;
  /** `shared`: several processes bind the same port at once. */
  build(options: ResolvedOptions, shared: boolean): BuiltServer;
}
