/** Builds a server from profile, mode and zones. It can be started, reloaded and stopped. */
import cluster from 'node:cluster';
import { defineZoneSet } from '@dinodns-bench/zones';
import { ServerError } from './errors.ts';
import { type ResolvedOptions, resolveOptions, type ServerOptions } from './options.ts';
import { frameworkPrimary, poolPrimary } from './process/multi.ts';
import type { Server } from './process/server.ts';
import { singleProcess } from './process/single.ts';
import { workerProcess } from './process/worker-process.ts';
import { dinodnsProfile } from './profiles/dinodns.ts';
import type { Profile } from './profiles/profile.ts';
import { stockProfile } from './profiles/stock.ts';

export { type Ready, type Server, STOP_SECONDS } from './process/server.ts';

const PROFILE_BY_NAME = { dinodns: dinodnsProfile, stock: stockProfile } as const satisfies Record<
  ResolvedOptions['profile'],
  Profile
>;

/**
 * Creates a server without starting it. In mode `multi`, workers run the same program again, as usual with Node's
 * cluster module. They reach the same `createServer` and `start`, which serves and resolves there too. Throws
 * `E_USAGE` or `E_UNSUPPORTED` for options that cannot work.
 */
export function createServer(options: ServerOptions = {}): Server {
  const resolved = resolveOptions(options, () => defineZoneSet());
  const profile = PROFILE_BY_NAME[resolved.profile];
  const refusal = profile.unsupported(resolved);
  if (refusal !== null) throw new ServerError('E_UNSUPPORTED', refusal.reason, refusal.fix);
  const built = profile.build(resolved, resolved.mode === 'multi');
  if (resolved.mode === 'single') return singleProcess(resolved, built);
  if (cluster.isWorker) return workerProcess(resolved, built);
  return profile.clusteredBy === 'package' ? poolPrimary(resolved, built) : frameworkPrimary(resolved, built);
}
