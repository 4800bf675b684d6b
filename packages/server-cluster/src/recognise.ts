/**
 * Recognises the framework's objects by their shape and the names of their classes. A program may use another copy of
 * `dinodns` than this package does, perhaps another version, and `instanceof` knows only the classes of one copy.
 */
import { type Network, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Router } from 'dinodns/common/router/index.js';
import type { DefaultStore } from 'dinodns/plugins/storage/index.js';
import type { Handler } from 'dinodns/types/server.js';
import type { Packet } from 'dns-packet';

/** The prototype of that class's name on `value`'s prototype chain; null if there is none. */
function prototypeOf(value: object, name: string): object | null {
  for (let level = Object.getPrototypeOf(value); level !== null; level = Object.getPrototypeOf(level)) {
    if (level.constructor?.name === name) return level;
  }
  return null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function member(value: object, name: string): unknown {
  return Reflect.get(value, name);
}

function hasMethods(value: unknown, ...names: readonly string[]): value is object {
  return isObject(value) && names.every((name) => typeof member(value, name) === 'function');
}

/**
 * A server with the members of `DefaultServer` that acceleration needs. The framework's types declare the router
 * private.
 */
export interface FrameworkServer {
  networks: Network<Packet>[];
  readonly router: Router;
  readonly default: Handler;
}

export function isServer(value: unknown): value is FrameworkServer {
  return (
    hasMethods(value, 'use', 'handle', 'start', 'stop', 'default') &&
    Array.isArray(member(value, 'networks')) &&
    isRouter(member(value, 'router'))
  );
}

/**
 * Whether the server still has the standard default handler, which answers NXDOMAIN if no other handler answered.
 */
export function hasStandardDefault(server: FrameworkServer): boolean {
  const prototype = prototypeOf(server, 'DefaultServer');
  return prototype !== null && server.default === member(prototype, 'default');
}

function isRouter(value: unknown): value is Router {
  return hasMethods(value, 'use', 'handle', 'match');
}

/** Private state of the framework's own router. Nothing else tells what has been registered. */
export interface DefaultRouterState {
  readonly middleware: readonly Handler[];
  readonly handlers: readonly { readonly match: { readonly regexp: RegExp } }[];
}

function isRegistered(entry: unknown): boolean {
  const match = isObject(entry) ? member(entry, 'match') : undefined;
  return isObject(match) && Object.prototype.toString.call(member(match, 'regexp')) === '[object RegExp]';
}

export function isDefaultRouter(router: Router): router is Router & DefaultRouterState {
  const middleware: unknown = member(router, 'middleware');
  const handlers: unknown = member(router, 'handlers');
  return (
    prototypeOf(router, 'DefaultRouter') !== null &&
    Array.isArray(middleware) &&
    Array.isArray(handlers) &&
    handlers.every(isRegistered)
  );
}

export function isDefaultStore(value: object): value is DefaultStore {
  return (
    prototypeOf(value, 'DefaultStore') !== null &&
    hasMethods(value, 'set', 'append', 'delete', 'get', 'handler') &&
    member(value, 'data') instanceof Map
  );
}

/** The replacement for a network, or the reason why there is none. */
export type Replaceable = { readonly by: 'udp' | 'tcp' } | { readonly reason: string };

const PLAIN = [
  { by: 'udp', type: SupportedNetworkType.UDP, network: 'DNSOverUDP', serializer: 'UDPSerializer' },
  { by: 'tcp', type: SupportedNetworkType.TCP, network: 'DNSOverTCP', serializer: 'TCPSerializer' },
] as const;

export function replaceable(network: Network<Packet>): Replaceable {
  const plain = PLAIN.find(({ type }) => type === network.networkType);
  if (plain === undefined) return { reason: `there is nothing faster for ${network.networkType} here` };
  if (prototypeOf(network, plain.network) === null)
    return { reason: `it is not a ${plain.network} of dinodns` };
  // Not a subclass: its encoding may differ.
  if (network.serializer.constructor?.name !== plain.serializer)
    return { reason: 'it has a serializer of its own' };
  return { by: plain.by };
}
