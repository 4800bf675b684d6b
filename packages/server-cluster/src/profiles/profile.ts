/**
 * A profile is one way to put a DinoDNS server together from networks, middleware and a store. The rest of
 * this package runs it: one process or many, readiness, reloading, stopping. A faster network or answer table
 * enters here and nowhere else.
 */
import type { DefaultServer } from 'dinodns/common/server/index.js';
import type { WorkerSnapshot } from '../metrics/snapshot.ts';
import type { ProfileName, ResolvedOptions, ZoneSource } from '../options.ts';

/** What can be asked of a server of this package's networks and store, beyond serving. */
export interface Managed {
  /**
   * Builds from `zones` what will replace the present ones; calling the result replaces them, at once. Rejects
   * with a `ServerError`, and then nothing has changed.
   */
  prepare(zones: ZoneSource): Promise<() => void>;
  snapshot(): WorkerSnapshot;
}

/** A server of one process, not yet bound. */
export interface BuiltServer {
  /** The framework's server; middleware and handlers may be added until it is opened. */
  readonly server: DefaultServer;
  /** Null for a server that is only watched. */
  readonly managed: Managed | null;
  /** What moves UDP datagrams: `native`, or `dgram`, also before it is known to be otherwise. */
  readonly udpBackend: string;
  /** Loads the zones to begin with. Rejects with a `ServerError` if they cannot be served. */
  load(zones: ZoneSource): Promise<void>;
  /** Binds all networks and serves. Rejects with a `ServerError` if that fails. */
  open(port: number): Promise<void>;
  /** Answers what has been received and closes; gives up after `seconds`. */
  shutdown(seconds: number): Promise<void>;
}

export interface Profile {
  readonly name: ProfileName;
  /**
   * Who makes the processes of mode `multi`: this package, with one socket per process where the kernel can
   * balance them, or the framework itself.
   */
  readonly clusteredBy: 'package' | 'framework';
  /** Why these options cannot be served, and what to do instead; null if they can. */
  unsupported(options: ResolvedOptions): { readonly reason: string; readonly fix: string } | null;
  /** `shared`: several processes bind the same port at once. */
  build(options: ResolvedOptions, shared: boolean): BuiltServer;
}
