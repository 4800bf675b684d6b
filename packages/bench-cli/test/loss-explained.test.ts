/** The counters of the kernel as it prints them, and the lost queries that they explain. */
import { describe, expect, it } from 'vitest';
import { addLosses, explainLosses, type LostLoad } from '../src/measure/explain-losses.ts';
import type { LossReading } from '../src/measure/loss-meter.ts';
import { parseQueues } from '../src/observe/device-queues.ts';
import { parseConntrack, parseSnmp, parseSoftnet, parseUdpSockets } from '../src/observe/network-counters.ts';
import { placesText } from '../src/report/losses.ts';

describe('the counters of the kernel', () => {
  it('of protocols are pairs of lines', () => {
    const text = 'Ip: Forwarding InReceives InDelivers\nIp: 1 30 20\nUdp: InDatagrams NoPorts\nUdp: 7 3\n';
    expect(Object.fromEntries(parseSnmp(text))).toEqual({
      'Ip.Forwarding': 1,
      'Ip.InReceives': 30,
      'Ip.InDelivers': 20,
      'Udp.InDatagrams': 7,
      'Udp.NoPorts': 3,
    });
  });

  const SOCKETS = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
   10: 0100007F:14B4 00000000:0000 07 00000000:00000300 00:00000000 00000000     0        0 1 2 0000000000000000 12
   11: 0100007F:14B4 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 2 2 0000000000000000 5
   12: 00000000:14B4 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 3 2 0000000000000000 1
   13: 0200007F:14B4 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4 2 0000000000000000 100
   14: 0100007F:14B4 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 5 2 0000000000000000 100
   15: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 6 2 0000000000000000 100
`;
  const SOCKETS6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
   20: 00000000000000000000000000000000:14B4 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 7 2 0000000000000000 40
   21: 0000000000000000FFFF00000100007F:14B4 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 8 2 0000000000000000 2
   22: 00000000000000000000000001000000:14B4 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 9 2 0000000000000000 700
`;

  it('of sockets are those that receive what is sent to an address and a port', () => {
    expect(parseUdpSockets(SOCKETS, '127.0.0.1', 5300)).toEqual({
      sockets: 3,
      drops: 18,
      queuedBytes: 0x300,
    });
    expect(parseUdpSockets(SOCKETS6, '127.0.0.1', 5300)).toEqual({ sockets: 2, drops: 42, queuedBytes: 0 });
    expect(parseUdpSockets(SOCKETS6, '::1', 5300)).toEqual({ sockets: 2, drops: 740, queuedBytes: 0 });
    expect(parseUdpSockets(SOCKETS, '127.0.0.1', 5301)).toEqual({ sockets: 0, drops: 0, queuedBytes: 0 });
  });

  it('of CPUs are hexadecimal, a row for each', () => {
    expect(parseSoftnet('2a91d211 00000010 00000034\n28546619 00000001 00000027\n')).toBe(17);
  });

  it('of connection tracking count a packet once that is dropped after a clash', () => {
    const names = 'entries  clashres found insert insert_failed drop early_drop';
    expect(
      parseConntrack(`${names}\n00000000 0 0 0 00000002 0000000c 0\n00000000 0 0 0 00000001 00000004 0\n`),
    ).toBe(16);
  });

  it('of device queues are those of the roots, which include those below them', () => {
    const text = JSON.stringify([
      { kind: 'noqueue', dev: 'lo', root: true, drops: 0 },
      { kind: 'mq', dev: 'eth0', root: true, drops: 5 },
      { kind: 'fq_codel', dev: 'eth0', parent: ':1', drops: 5 },
      { kind: 'clsact', dev: 'eth0', parent: 'ffff:fff1', drops: 3 },
      { kind: 'tbf', dev: 'eth1', root: true, drops: 100 },
    ]);
    expect(parseQueues(text, ['eth0'])).toEqual({ dropped: 8, canDrop: true });
    expect(parseQueues(text)).toEqual({ dropped: 108, canDrop: true });
    expect(parseQueues(text, ['lo'])).toEqual({ dropped: 0, canDrop: false });
    expect(parseQueues('Object "qdisc" is unknown')).toBeNull();
  });
});

describe('lost queries', () => {
  const namespace = { udpRead: 0, udpBufferErrors: 0, udpClosedPort: 0, filtered: 0, conntrackDropped: 0 };
  const nothing: LossReading = {
    server: namespace,
    loader: null,
    isShared: true,
    sockets: { sockets: 1, drops: 0, queuedBytes: 0 },
    softnetDropped: 0,
    queueDropped: 0,
  };
  const counts = { bufferDrops: 0, sendErrors: 0, late: 0, strays: 0 };
  const load: LostLoad = { queriesSent: 10_000, queriesCompleted: 9000, queriesLost: 1000 };
  type Change = Partial<Omit<LossReading, 'server'>> & { readonly server?: Partial<typeof namespace> };
  const explain = (after: Change, told: Partial<typeof counts> = {}) =>
    explainLosses(
      load,
      { ...counts, ...told },
      {
        before: nothing,
        after: { ...nothing, ...after, server: { ...namespace, ...after.server } },
      },
    ).places;

  it('are where they were counted, and what was counted nowhere is unknown', () => {
    // On one machine the namespace counts what both sides read: 9,000 queries and 9,000 answers.
    const found = explain({
      sockets: { sockets: 1, drops: 990, queuedBytes: 0 },
      server: { udpRead: 18_000 },
    });
    expect(placesText(found)).toBe("990 in the server's socket buffer, 10 unknown");
  });

  it("are the server's where it read them", () => {
    expect(explain({ server: { udpRead: 19_000 } })).toEqual([{ place: 'server', queries: 1000 }]);
  });

  it('are no more than were lost, whatever other programs lose meanwhile', () => {
    const found = explain({ softnetDropped: 5000, sockets: { sockets: 1, drops: 400, queuedBytes: 0 } });
    expect(found).toEqual([
      { place: 'softnet', queries: 600 },
      { place: 'server-buffer', queries: 400 },
    ]);
  });

  it('count once that connection tracking dropped, although the sender was refused or the packet filtered', () => {
    const server = { conntrackDropped: 700, filtered: 400, udpRead: 18_300 };
    expect(explain({ server }, { sendErrors: 300 })).toEqual([
      { place: 'conntrack', queries: 700 },
      { place: 'server', queries: 300 },
    ]);
  });

  it("are all of connection tracking's that dropped messages of several queries on arrival", () => {
    const server = { conntrackDropped: 70, filtered: 70, udpRead: 18_000 };
    expect(explain({ server })).toEqual([{ place: 'conntrack', queries: 1000 }]);
  });

  it("are all of a queue's that dropped messages of several queries, which it counts as one", () => {
    const found = explain({ queueDropped: 70, server: { udpRead: 18_000 } });
    expect(found).toEqual([{ place: 'qdisc', queries: 1000 }]);
  });

  it('stay unknown where two places dropped such messages', () => {
    const found = explain({ queueDropped: 70, softnetDropped: 30, server: { udpRead: 18_000 } });
    expect(found).toContainEqual({ place: 'unknown', queries: 900 });
  });

  it("are the load generator's where no socket of the server dropped them, if it does not tell", () => {
    const found = explainLosses(
      load,
      { ...counts, bufferDrops: null },
      {
        before: nothing,
        after: {
          ...nothing,
          sockets: { sockets: 1, drops: 300, queuedBytes: 0 },
          server: { ...namespace, udpBufferErrors: 1000, udpRead: 18_000 },
        },
      },
    );
    expect(found.places).toEqual([
      { place: 'loader-buffer', queries: 700 },
      { place: 'server-buffer', queries: 300 },
    ]);
  });

  it('of which only the load generator tells are explained as far as it can, and the rest is said to be unknown', () => {
    const found = explainLosses(load, { ...counts, late: 300 }, null, 'the pod cannot be read');
    expect(found.places).toEqual([
      { place: 'late', queries: 300 },
      { place: 'unknown', queries: 700 },
    ]);
    expect(found.unread).toEqual(['the pod cannot be read']);
  });

  it('of several loads add up', () => {
    const one = explainLosses(load, { ...counts, late: 300 }, null, 'the pod cannot be read');
    expect(addLosses([one, one])).toMatchObject({ lost: 2000, unread: ['the pod cannot be read'] });
    expect(addLosses([one, one]).counters.loaderLate).toBe(600);
  });
});
