/** Sends many messages to a real server, as fast as it answers. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { DROP } from '../../src/table/responder.ts';

/** Messages in flight: few enough for any receive buffer. */
const WINDOW = 128;
/** Without any reply for so long, the next messages are sent. What is missing is asked for again in the end. */
const QUIET_MILLISECONDS = 40;
const QUIET_MILLISECONDS_AGAIN = 150;
/** A reply that has not arrived by then, even on a busy machine, will not arrive. */
const LAST_QUIET_MILLISECONDS = 1500;
/** Ids are 16 bits. */
const MOST = 65_536;

/** The replies in the order of the messages, `DROP` where there is none. Messages get ids of their own. */
export async function exchangeAll(
  port: number,
  messages: readonly Buffer[],
): Promise<(Buffer | typeof DROP)[]> {
  const replies: (Buffer | typeof DROP)[] = [];
  for (let first = 0; first < messages.length; first += MOST) {
    replies.push(...(await exchangeSome(port, messages.slice(first, first + MOST))));
  }
  return replies;
}

async function exchangeSome(port: number, messages: readonly Buffer[]): Promise<(Buffer | typeof DROP)[]> {
  const replies: (Buffer | typeof DROP)[] = messages.map(() => DROP);
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const waiting = new Set<number>();
  let onReply: () => void = () => undefined;
  socket.on('message', (reply) => {
    const index = reply.length < 2 ? -1 : reply.readUInt16BE(0);
    if (!waiting.delete(index)) return;
    replies[index] = reply;
    onReply();
  });
  const sendAll = async (indexes: readonly number[], quiet: number) => {
    for (let first = 0; first < indexes.length; first += WINDOW) {
      const batch = indexes.slice(first, first + WINDOW);
      for (const index of batch) send(socket, messages[index], index, waiting);
      await settle(
        () => batch.some((index) => waiting.has(index)),
        quiet,
        (listener) => {
          onReply = listener;
        },
      );
    }
  };
  try {
    await sendAll([...messages.keys()], QUIET_MILLISECONDS);
    // Some messages get no reply, others were lost while the server had to wait for a CPU: a whole round without a
    // reply tells them apart.
    for (let before = Number.POSITIVE_INFINITY; waiting.size > 0 && waiting.size < before; ) {
      before = waiting.size;
      await sendAll([...waiting], QUIET_MILLISECONDS_AGAIN);
      await settle(
        () => waiting.size > 0,
        LAST_QUIET_MILLISECONDS,
        (listener) => {
          onReply = listener;
        },
      );
    }
  } finally {
    socket.close();
  }
  return replies;
}

function send(socket: Socket, message: Buffer | undefined, id: number, waiting: Set<number>): void {
  if (message === undefined) return;
  const own = Buffer.from(message);
  if (own.length >= 2) own.writeUInt16BE(id);
  waiting.add(id);
  socket.send(own);
}

/** Resolves once nothing is missing, or no reply has come for so many milliseconds. */
function settle(
  isMissing: () => boolean,
  quiet: number,
  listen: (listener: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timeout);
      listen(() => undefined);
      resolve();
    };
    let timeout = setTimeout(finish, quiet);
    listen(() => {
      clearTimeout(timeout);
      if (isMissing()) timeout = setTimeout(finish, quiet);
      else finish();
    });
    if (!isMissing()) finish();
  });
}
