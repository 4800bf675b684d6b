/** A server of a profile, in the process that its mode and place ask for. */
import cluster from 'node:cluster';
import { defineZoneSet } from '@dinodns-bench/zones/data';
import { ServerError } from '../errors.ts';
import { resolveOptions, type ServerOptions } from '../options.ts';
import type { Profile } from '../profiles/profile.ts';
import { frameworkPrimary, poolPrimary } from './multi.ts';
import type { Server } from './server.ts';
import { singleProcess } from './single.ts';
import { workerProcess } from './worker-process.ts';

/** As `createServer`. `profile` is the one that the options name. */
export function serverOf(options: ServerOptions, profile: Profile): Server {
  const resolved = resolveOptions(options, () => defineZoneSet());
  const refusal = profile.unsupported(resolved);
  if (refusal !== null) throw new ServerError('E_UNSUPPORTED', refusal.reason, refusal.fix);
  const built = profile.build(resolved, resolved.mode === 'multi');
  if (resolved.mode === 'single') return singleProcess(resolved, built);
  if (cluster.isWorker) return workerProcess(resolved, built);
  return built.managed === null ? frameworkPrimary(resolved, built) : poolPrimary(resolved, built);
}
