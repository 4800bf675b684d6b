/** Zone transfers (RFC 5936): which clients may have them, and how the messages are sent. */
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mappedAddress, TYPE } from '@dinodns-bench/wire';
import { type ClientNetwork, contains } from '../limits/networks.ts';
import type { TcpConnection } from '../network/tcp-connection.ts';
import type { ZoneStore } from '../store/zone-store.ts';
import { transferMessages } from './zone-messages.ts';

/** AXFR, or IXFR, which may also be answered with the whole zone (RFC 1995, section 4). */
export function isTransfer(type: number): boolean {
  return type === TYPE.AXFR || type === TYPE.IXFR;
}

/** One transfer, as a client asked for it. */
interface Transfer {
  readonly query: Buffer;
  readonly questionEnd: number;
  /** The replies' OPT record, or empty. */
  readonly opt: Buffer;
  readonly connection: TcpConnection;
  /** Called for each message, which includes its length field. */
  readonly onMessage: (message: Buffer) => void;
}

export class Transfers {
  readonly #store: ZoneStore;
  readonly #networks: readonly ClientNetwork[];
  /** The last transfer of each connection. */
  readonly #last = new WeakMap<TcpConnection, Promise<void>>();

  constructor(store: ZoneStore, networks: readonly ClientNetwork[]) {
    this.#store = store;
    this.#networks = networks;
  }

  /** False for a client whose address is not known, because it is gone. */
  allows(address: string): boolean {
    if (isIP(address) === 0) return false;
    const bytes = mappedAddress(address);
    return this.#networks.some((network) => contains(network, bytes, 0));
  }

  /**
   * Sends the zone that the query asks for, or NOTAUTH if we do not serve it, at the client's pace. A reload in
   * between has no effect: the zone is sent as it was at the start. A connection has one
   * transfer at a time, so that a client which asks for many and does not read takes the memory of one.
   */
  send(transfer: Transfer): Promise<void> {
    const start = () => this.#send(transfer);
    const before = this.#last.get(transfer.connection);
    const own = before === undefined ? start() : before.then(start, start);
    this.#last.set(transfer.connection, own);
    return own;
  }

  async #send({ query, questionEnd, opt, connection, onMessage }: Transfer): Promise<void> {
    const { socket } = connection;
    for (const message of transferMessages(this.#store.data, query, questionEnd, opt)) {
      if (!socket.writable) break;
      // Not idle: the client is reading its answer, or waiting for it.
      connection.touch();
      if (message.length > 0) {
        onMessage(message);
        if (!socket.write(message)) await drained(connection);
      }
      await nextTurn();
    }
    connection.skip();
  }
}

/** Resolves when the socket is writable or closed. */
async function drained({ socket }: TcpConnection): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  const events = ['drain', 'close'].map((event) => once(socket, event, { signal }).catch(() => undefined));
  await Promise.race(events);
  gone.abort();
}
