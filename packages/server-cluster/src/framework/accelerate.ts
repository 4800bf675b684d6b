/** Makes an existing DinoDNS server fast: batched sockets, and answers from a table where nothing else looks. */
import { DNSOverTCP, DNSOverUDP, type Network, SupportedNetworkType } from 'dinodns/common/network/index.js';
import { TCPSerializer } from 'dinodns/common/network/tcp.js';
import { UDPSerializer } from 'dinodns/common/network/udp.js';
import { DefaultRouter, type Router } from 'dinodns/common/router/index.js';
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import type { Packet } from 'dns-packet';
import type { RateLimit } from '../limits/rate-limiter.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { BatchedUdpNetwork, type UdpBackend } from '../network/batched-udp.ts';
import { RobustTcpNetwork, type TcpLimits } from '../network/tcp.ts';
import { createAnswerTable } from '../table/answer-table.ts';
import type { Responder } from '../table/responder.ts';
import { Gate } from './gate.ts';
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
 * Replaces the server's `DNSOverUDP` and `DNSOverTCP` networks by batched and bounded ones on the same address
 * and port, and answers from `store` before the framework is asked wherever `store.handler` is the only handler
 * in the way. Middleware and handlers may be registered before and after; see `observe` for those that are
 * content with a sample. Networks over TLS and HTTP, and networks with a serializer of their own, stay.
 *
 * To be called before the server is started. Returns the server.
 */
export function accelerate<T extends DefaultServer>(
  server: T,
  store: TableStore,
  options: AccelerateOptions = {},
): T {
  const log = options.log ?? defaultLog();
  const gate = new Gate({ store: store.handler, log });
  watchRouter(routerOf(server), gate);
  // Whoever has replaced the default handler decides about names that the store does not know.
  const isStandard = server.default === DefaultServer.prototype.default;
  const table = createAnswerTable(store, { outside: isStandard ? 'nxdomain' : 'framework' });
  const responder = gate.guard(table);
  for (const [index, network] of server.networks.entries()) {
    const replacement = replacementOf(network, responder, { ...options, log });
    if (replacement === undefined) continue;
    if (network.handler !== undefined) replacement.handler = network.handler;
    server.networks[index] = replacement;
    network.close();
  }
  return server;
}

function replacementOf(
  network: Network<Packet>,
  responder: Responder & { readonly gate: Gate },
  options: AccelerateOptions,
): Network<Packet> | undefined {
  const { address, port } = network;
  const { udpBackend, rateLimit, tcp, log } = options;
  const common = { address, port, responder, ...(log === undefined ? {} : { log }) };
  if (network instanceof DNSOverUDP && network.serializer instanceof UDPSerializer) {
    const backend = udpBackend === undefined ? {} : { backend: udpBackend };
    return new BatchedUdpNetwork({
      ...common,
      ...backend,
      ...(rateLimit === undefined ? {} : { rateLimit }),
    });
  }
  const isPlainTcp = network instanceof DNSOverTCP && network.networkType === SupportedNetworkType.TCP;
  if (isPlainTcp && network.serializer instanceof TCPSerializer)
    return new RobustTcpNetwork({ ...common, ...tcp });
  return undefined;
}

/** The framework keeps it to itself, but nothing else says what has been registered. */
function routerOf(server: DefaultServer): Router {
  return (server as unknown as { readonly router: Router }).router;
}

interface DefaultRouterState {
  readonly middleware: readonly Handler[];
  readonly handlers: readonly { readonly match: { readonly regexp: RegExp } }[];
}

/** The pattern that the framework has made this expression from: it writes `.` as `\.` and `*` as `.*`. */
function domainOf({ source }: RegExp): string {
  return source.slice(1, -1).replace(/\\\.|\.\*/g, (match) => (match === '.*' ? '*' : '.'));
}

/** Tells the gate of everything that is registered, now and later. */
function watchRouter(router: Router, gate: Gate): void {
  if (router instanceof CaseInsensitiveRouter) {
    router.tell(gate);
    return;
  }
  if (!(router instanceof DefaultRouter)) {
    gate.close('the router may decide by anything');
    return;
  }
  const { middleware, handlers } = router as unknown as DefaultRouterState;
  for (const handler of middleware) gate.addMiddleware(handler);
  for (const { match } of handlers) gate.addRoute(domainOf(match.regexp));
  const { use, handle } = router;
  router.use = (handler) => {
    gate.addMiddleware(handler);
    use.call(router, handler);
  };
  router.handle = (domain, handler) => {
    gate.addRoute(domain);
    handle.call(router, domain, handler);
  };
}
