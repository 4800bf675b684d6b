/**
 * Makes an existing DinoDNS server fast: batched sockets, and answers from a table where no other handler needs to
 * see the query.
 */

import type { Network } from 'dinodns/common/network/index.js';
import type { Router } from 'dinodns/common/router/index.js';
import type { Packet } from 'dns-packet';
import { ServerError } from '../errors.ts';
import { PendingLimit } from '../limits/pending-limit.ts';
import type { RateLimit } from '../limits/rate-limiter.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { BatchedUdpNetwork, type UdpBackend } from '../network/batched-udp.ts';
import type { NetworkOptions } from '../network/managed-network.ts';
import { RobustTcpNetwork } from '../network/tcp.ts';
import type { TcpLimits } from '../network/tcp-limits.ts';
import {
  type FrameworkServer,
  hasStandardDefault,
  isDefaultRouter,
  isDefaultStore,
  isServer,
  replaceable,
} from '../recognise.ts';
import { ZoneStore } from '../store/zone-store.ts';
import { createAnswerTable } from '../table/answer-table.ts';
import { Bypass } from './bypass.ts';
import { CaseInsensitiveRouter } from './router.ts';

type TableStore = Parameters<typeof createAnswerTable>[0];

export interface AccelerateOptions {
  /** Default: `auto`. */
  readonly udpBackend?: UdpBackend;
  /** Default: no limit. */
  readonly rateLimit?: RateLimit;
  readonly tcp?: TcpLimits;
  /** Default: errors and warnings as JSON on standard error. */
  readonly log?: Log;
}

/**
 * A DinoDNS server, from whichever copy of `dinodns` the program uses: to TypeScript, `DefaultServer` of two
 * copies are two types.
 */
export interface AcceleratedServer {
  readonly networks: object[];
  default(...args: never[]): void;
}

/**
 * Replaces the server's `DNSOverUDP` and `DNSOverTCP` networks with batched, bounded ones on the same address and
 * port. Wherever `store.handler` is the only handler in the way, queries are answered from `store` (a
 * `DefaultStore`, or a `ZoneStore` of this package) before the framework is asked. Middleware and handlers may be
 * registered before and after; see `observe` for those that need only a sample. Networks over TLS and HTTP, and
 * those with their own serializer, are left alone.
 *
 * Whatever cannot be replaced is logged as a warning with the reason. Call this before the server starts. Returns
 * the server. Throws a ServerError (`E_UNSUPPORTED`) if the server or the store is not one of DinoDNS.
 */
export function accelerate<T extends AcceleratedServer>(
  server: T,
  store: TableStore | { readonly handler: (...args: never[]) => void },
  options: AccelerateOptions = {},
): T {
  const log = options.log ?? defaultLog();
  if (!isServer(server)) throw unsupported('This server', 'a DefaultServer of dinodns 0.0.13 or later');
  if (!isTableStore(store)) throw unsupported('This store', 'a DefaultStore of dinodns, or a ZoneStore');
  const bypass = new Bypass(log, store.handler);
  watchRouter(server.router, bypass);
  // If the default handler was replaced, it decides about names that the store does not know.
  const outside = hasStandardDefault(server) ? 'nxdomain' : 'framework';
  const { networks }: FrameworkServer = server;
  const shared = { responder: createAnswerTable(store, { outside }), bypass, pending: new PendingLimit() };
  for (const [index, network] of networks.entries()) {
    const replacement = replacementOf(network, shared, { ...options, log });
    if (replacement === undefined) continue;
    if (network.handler !== undefined) replacement.handler = network.handler;
    networks[index] = replacement;
    network.close();
  }
  return server;
}

function unsupported(what: string, wanted: string): ServerError {
  return new ServerError(
    'E_UNSUPPORTED',
    `${what} cannot be made fast: it is not ${wanted}.`,
    `Pass ${wanted}, or start the server without accelerate().`,
  );
}

function isTableStore(store: object): store is TableStore {
  return store instanceof ZoneStore || isDefaultStore(store);
}

function replacementOf(
  network: Network<Packet>,
  shared: Pick<NetworkOptions, 'responder' | 'bypass' | 'pending'>,
  options: AccelerateOptions,
): Network<Packet> | undefined {
  const { address, port, networkType } = network;
  const { udpBackend, rateLimit, tcp, log } = options;
  const common = { address, port, ...shared, log };
  const kind = replaceable(network);
  if ('reason' in kind) {
    const fields = { network: networkType, address, port, reason: kind.reason };
    log?.warn(fields, 'A network stays as it was, and its queries go through the framework');
    return undefined;
  }
  if (kind.by === 'tcp') return new RobustTcpNetwork({ ...common, ...tcp });
  return new BatchedUdpNetwork({ ...common, backend: udpBackend, rateLimit });
}

/** The pattern from which the framework made this expression: it writes `.` as `\.` and `*` as `.*`. */
function domainOf({ source }: RegExp): string {
  return source.slice(1, -1).replace(/\\\.|\.\*/g, (match) => (match === '.*' ? '*' : '.'));
}

/** Tells the bypass about every handler that is registered, now and later. */
function watchRouter(router: Router, bypass: Bypass): void {
  if (router instanceof CaseInsensitiveRouter) {
    router.tell(bypass);
    return;
  }
  if (!isDefaultRouter(router)) {
    bypass.close('a custom router may decide by any rule');
    return;
  }
  const { middleware, handlers } = router;
  for (const handler of middleware) bypass.addMiddleware(handler);
  for (const { match } of handlers) bypass.addRoute(domainOf(match.regexp));
  const { use, handle } = router;
  router.use = (handler) => {
    bypass.addMiddleware(handler);
    use.call(router, handler);
  };
  router.handle = (domain, handler) => {
    bypass.addRoute(domain);
    handle.call(router, domain, handler);
  };
}
