/** Builds a server from profile, mode and zones. It can be started, reloaded and stopped. */
import type { ServerOptions } from './options.ts';
import { serverOf } from './process/of-profile.ts';
import type { Server } from './process/server.ts';
import { dinodnsProfile } from './profiles/dinodns.ts';
import { stockProfile } from './profiles/stock.ts';

export { type Ready, type Server, STOP_SECONDS } from './process/server.ts';

/**
 * Creates a server without starting it. In mode `multi`, workers run the same program again, as usual with Node's
 * cluster module. They reach the same `createServer` and `start`, which serves and resolves there too. Throws
 * `E_USAGE` or `E_UNSUPPORTED` for options that cannot work.
 */
export function createServer(options: ServerOptions = {}): Server {
  return serverOf(options, options.profile === 'stock' ? stockProfile : dinodnsProfile);
}
