/**
 * A profile is one way to put a DinoDNS server together from networks, middleware and a store. The rest of
 * this package runs it: one process or many, readiness, stopping. A faster network or answer table enters
 * here and nowhere else.
 */
import type { DefaultServer } from 'dinodns/common/server/index.js';
import type { ProfileName, ResolvedOptions } from '../options.ts';

/** A server of one process, not yet bound. */
export interface BuiltServer {
  /** The framework's server; middleware and handlers may be added until it is opened. */
  readonly server: DefaultServer;
  /** Loads the zones and binds all networks. Rejects with a `ServerError` if that fails. */
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
