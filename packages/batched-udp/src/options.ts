/** Checks options and fills in defaults, the same for both backends. */
import { type Address, parseAddress } from './address.ts';
import { UdpError } from './errors.ts';
import type { UdpSocketOptions, Waiting } from './socket.ts';

/** A validated address and port. */
export interface Target extends Address {
  readonly text: string;
  readonly port: number;
}

/** Options with their defaults. */
export type Settings = ReturnType<typeof settle>;

function integer(name: string, value: number, low: number, high: number): number {
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new UdpError('ERR_UDP_OPTION', `${name} ${value} is not an integer from ${low} to ${high}`);
  }
  return value;
}

function spreadOver({ spreadOver: sockets, reusePort }: UdpSocketOptions): number | undefined {
  if (sockets === undefined) return undefined;
  if (reusePort !== true) {
    throw new UdpError('ERR_UDP_OPTION', 'spreadOver needs reusePort: without it the port is not shared');
  }
  return integer('spreadOver', sockets, 1, 65536);
}

/** A longer sleep would noticeably delay everything else in the event loop. */
const maxGatherMicroseconds = 1000;

/** Longer than any pause in traffic for which a whole CPU is worth a few microseconds. */
const maxBusyPollMicroseconds = 1_000_000;

const places: readonly Waiting[] = ['kernel', 'event-loop'];

/** One of `known`, and what named it: the environment variable if it is set, otherwise the option. */
export function chosen<T extends string>(
  option: string,
  value: T,
  variable: string,
  known: readonly T[],
): { readonly name: T; readonly by: string } {
  const set = process.env[variable];
  const isSet = set !== undefined && set !== '';
  const by = isSet ? variable : `the option ${option}`;
  const given = isSet ? set : value;
  const name = known.find((one) => one === given);
  if (name !== undefined) return { name, by };
  const list = `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`;
  throw new UdpError('ERR_UDP_OPTION', `${by} is ${JSON.stringify(given)}: it must be ${list}`);
}

const maxBufferBytes = 2 ** 30 - 1; // The kernel doubles the requested size, in an int.

const bufferBytes = (name: string, value: number | undefined) =>
  value === undefined ? undefined : integer(name, value, 1, maxBufferBytes);

/** `port` may be 0 for a local address only. */
export function target(name: string, address: string, port: number, lowestPort: 0 | 1): Target {
  return { ...parseAddress(address), text: address, port: integer(`${name} port`, port, lowestPort, 65535) };
}

/** @throws UdpError ERR_UDP_ADDRESS for an address of the other family. */
export function peerTarget(settings: Settings, address: string, port: number): Target {
  const peer = target('peer', address, port, 1);
  if (peer.family === settings.family) return peer;
  throw new UdpError(
    'ERR_UDP_ADDRESS',
    `${address} is IPv${peer.family} and the socket IPv${settings.family}`,
  );
}

/** @throws UdpError ERR_UDP_OPTION or ERR_UDP_ADDRESS. */
export function settle(options: UdpSocketOptions) {
  const { connect } = options;
  const remote = connect === undefined ? null : target('connect', connect.address, connect.port, 1);
  const wildcard = remote?.family === 6 ? '::' : '0.0.0.0';
  const local = target('local', options.address ?? wildcard, options.port ?? 0, 0);
  if (remote !== null && remote.family !== local.family) {
    throw new UdpError(
      'ERR_UDP_ADDRESS',
      `connect to ${remote.text} from ${local.text}: both must be IPv4, or both IPv6`,
    );
  }
  if (typeof options.onBatch !== 'function') {
    throw new UdpError('ERR_UDP_OPTION', 'onBatch is not a function: it receives the datagrams');
  }
  return {
    family: local.family,
    local,
    /** Whether replies leave from the address that their datagram came to: the socket itself has none. */
    keepsAddress:
      remote === null && local.bytes.subarray(local.family === 4 ? 12 : 0).every((byte) => byte === 0),
    remote,
    reusePort: options.reusePort ?? false,
    spreadOver: spreadOver(options),
    receiveBufferBytes: bufferBytes('receiveBufferBytes', options.receiveBufferBytes),
    sendBufferBytes: bufferBytes('sendBufferBytes', options.sendBufferBytes),
    batchSize: integer('batchSize', options.batchSize ?? 64, 1, 1024),
    slotBytes: integer('slotBytes', options.slotBytes ?? 4096, 512, 65535),
    sendQueueLength: integer('sendQueueLength', options.sendQueueLength ?? 1024, 1, 65536),
    segmentation: options.segmentation ?? false,
    dontFragment: options.dontFragment ?? false,
    gatherMicroseconds: integer(
      'gatherMicroseconds',
      options.gatherMicroseconds ?? 0,
      0,
      maxGatherMicroseconds,
    ),
    waitIn: chosen('waitIn', options.waitIn ?? 'kernel', 'DINODNS_UDP_WAIT', places).name,
    busyPollMicroseconds: integer(
      'busyPollMicroseconds',
      options.busyPollMicroseconds ?? 0,
      0,
      maxBusyPollMicroseconds,
    ),
    timestamps: options.timestamps ?? false,
    onBatch: options.onBatch,
    onError: options.onError,
    onDrain: options.onDrain,
  };
}
