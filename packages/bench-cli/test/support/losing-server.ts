/**
 * A UDP server on a port of the kernel's choice that sends queries back as answers, and loses some as it is told: `node
 * losing-server.ts '{"address":"127.0.0.1","ignoreEvery":10,"delaySeconds":0,"bufferBytes":4096}'`. Prints its port.
 */
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

interface Options {
  readonly address: string;
  /** One of so many queries gets no answer; 0: all do. */
  readonly ignoreEvery?: number;
  readonly delaySeconds?: number;
  readonly bufferBytes?: number;
}

const options: Options = JSON.parse(process.argv[2] ?? '{}');
const { address, ignoreEvery = 0, delaySeconds = 0, bufferBytes } = options;
const socket = createSocket({
  type: isIP(address) === 6 ? 'udp6' : 'udp4',
  ...(bufferBytes === undefined ? {} : { recvBufferSize: bufferBytes }),
});
let queries = 0;
socket.on('message', (message, from) => {
  queries += 1;
  if (ignoreEvery > 0 && queries % ignoreEvery === 0) return;
  // QR: what comes back is an answer.
  message[2] = (message[2] ?? 0) | 0x80;
  const answer = () => socket.send(message, from.port, from.address);
  if (delaySeconds === 0) answer();
  else setTimeout(answer, delaySeconds * 1000);
});
socket.bind(0, address, () => process.stdout.write(`${socket.address().port}\n`));
