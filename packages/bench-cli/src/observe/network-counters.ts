/**
 * What the kernel counts of UDP in one network namespace, and on the way to it. Reads a few small files; nothing in the
 * path of a packet changes. https://docs.kernel.org/networking/snmp_counter.html, proc(5)
 */
import { readIfThere } from '../machine/proc-files.ts';
import type { World } from '../world.ts';
import { parseKeyedNumbers } from './cgroup-files.ts';

/** Since the namespace was made, IPv4 and IPv6 together. */
export interface NamespaceCounters {
  /** Datagrams that programs have read from their sockets. */
  readonly udpRead: number;
  /** Datagrams for which a socket had no room. */
  readonly udpBufferErrors: number;
  /** Datagrams to a port without a socket. */
  readonly udpClosedPort: number;
  /** Packets that IP received and neither delivered nor forwarded nor counted as an error: what a firewall drops. */
  readonly filtered: number;
  /** Packets that connection tracking dropped; null where the namespace has no connection tracking. */
  readonly conntrackDropped: number | null;
}

/** The UDP sockets of one port. */
export interface SocketCounters {
  readonly sockets: number;
  /** Datagrams for which they had no room, since they were opened. */
  readonly drops: number;
  /** Memory of what waits in them now. */
  readonly queuedBytes: number;
}

/** `Udp.InDatagrams` and so on: pairs of lines, the names and the values of a protocol. */
export function parseSnmp(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  const lines = text.split('\n');
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [protocol = '', ...names] = (lines[index] ?? '').split(' ');
    const [, ...figures] = (lines[index + 1] ?? '').split(' ');
    for (const [place, name] of names.entries())
      values.set(`${protocol.replace(':', '')}.${name}`, Number(figures[place] ?? 0));
  }
  return values;
}

/** Columns of hexadecimal numbers, one row for each CPU, below a row of names. */
function sumOfColumn(text: string, name: string): number {
  const [names = '', ...rows] = text.trim().split('\n');
  const column = names.trim().split(/\s+/).indexOf(name);
  if (column < 0) return 0;
  return rows.reduce((sum, row) => sum + Number.parseInt(row.trim().split(/\s+/)[column] ?? '0', 16), 0);
}

/**
 * A packet that finds the table full counts as `drop`; one whose entry cannot be inserted as `insert_failed`, and after a
 * clash as both.
 */
export function parseConntrack(text: string): number {
  return Math.max(sumOfColumn(text, 'drop'), sumOfColumn(text, 'insert_failed'));
}

/** The second column of /proc/net/softnet_stat: packets dropped because a CPU's queue was full. */
export function parseSoftnet(text: string): number {
  const rows = text.trim().split('\n');
  return rows.reduce((sum, row) => sum + Number.parseInt(row.split(' ')[1] ?? '0', 16), 0);
}

/** `0100007F` for 127.0.0.1: the kernel prints the four bytes as one number of the machine's byte order. */
function hexOf(ipv4: string): string {
  return ipv4
    .split('.')
    .toReversed()
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

const MAPPED_IPV4 = '0000000000000000FFFF0000';

/** Whether a socket that is bound to `bound` gets what is sent to `address`. */
function receives(bound: string, address: string): boolean {
  if (/^0+$/.test(bound)) return true;
  if (address.includes(':')) return bound.length === 32 && !bound.startsWith(MAPPED_IPV4);
  return bound === hexOf(address) || bound === MAPPED_IPV4 + hexOf(address);
}

/** The sockets in /proc/net/udp or udp6 that receive what is sent to an address and a port. */
export function parseUdpSockets(text: string, address: string, port: number): SocketCounters {
  let [sockets, drops, queuedBytes] = [0, 0, 0];
  for (const line of text.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const [, local = '', remote = '', , queues = ''] = fields;
    const [bound = '', boundPort = ''] = local.split(':');
    const isServer = remote.endsWith(':0000') && Number.parseInt(boundPort, 16) === port;
    if (!isServer || !receives(bound, address)) continue;
    sockets += 1;
    drops += Number(fields[12] ?? 0);
    queuedBytes += Number.parseInt(queues.split(':')[1] ?? '0', 16);
  }
  return { sockets, drops, queuedBytes };
}

/** Packets that IP received and neither delivered, nor passed on, nor put together, nor refused for a reason it counts. */
function filteredOf(snmp: ReadonlyMap<string, number>, prefix: string): number {
  const of = (name: string) => snmp.get(prefix + name) ?? 0;
  const accounted = [
    'InDelivers',
    'InHdrErrors',
    'InTooBigErrors',
    'InNoRoutes',
    'InAddrErrors',
    'InUnknownProtos',
    'InTruncatedPkts',
    'InDiscards',
    'ForwDatagrams',
    'OutForwDatagrams',
    // Of IPv6: neighbours that look for each other, mostly in groups that nobody has joined.
    'InMcastPkts',
  ];
  const fragments = of('ReasmReqds') - of('ReasmOKs');
  return of('InReceives') - fragments - accounted.reduce((sum, name) => sum + of(name), 0);
}

/** The counters of the namespace that a process sees below `/proc/PID`; null if they cannot be read. */
export async function readNamespace(world: World, proc: string): Promise<NamespaceCounters | null> {
  const [snmp, snmp6, conntrack] = await Promise.all(
    ['snmp', 'snmp6', 'stat/nf_conntrack'].map((file) => readIfThere(world, `${proc}/net/${file}`)),
  );
  if (snmp == null) return null;
  const four = parseSnmp(snmp);
  const six = parseKeyedNumbers(snmp6 ?? '');
  const udp = (name: string) => (four.get(`Udp.${name}`) ?? 0) + (six.get(`Udp6${name}`) ?? 0);
  return {
    udpRead: udp('InDatagrams'),
    udpBufferErrors: udp('RcvbufErrors'),
    udpClosedPort: udp('NoPorts'),
    filtered: filteredOf(four, 'Ip.') + filteredOf(six, 'Ip6'),
    conntrackDropped: conntrack == null ? null : parseConntrack(conntrack),
  };
}

/** The sockets behind endpoints; null if the process has none there, or cannot be seen. */
export async function readSockets(
  world: World,
  proc: string,
  endpoints: readonly { readonly address: string; readonly port: number }[],
): Promise<SocketCounters | null> {
  const texts = await Promise.all(['udp', 'udp6'].map((file) => readIfThere(world, `${proc}/net/${file}`)));
  const found = endpoints.flatMap(({ address, port }) =>
    texts.map((text) => parseUdpSockets(text ?? '', address, port)),
  );
  const sum = (pick: (counters: SocketCounters) => number) =>
    found.reduce((total, counters) => total + pick(counters), 0);
  const sockets = sum((counters) => counters.sockets);
  return sockets === 0
    ? null
    : { sockets, drops: sum(({ drops }) => drops), queuedBytes: sum(({ queuedBytes }) => queuedBytes) };
}

/** Of the whole machine. Null if it cannot be read. */
export async function readSoftnetDropped(world: World): Promise<number | null> {
  const text = await readIfThere(world, '/proc/net/softnet_stat');
  return text === null ? null : parseSoftnet(text);
}
