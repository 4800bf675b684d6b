/** A UDP server that records every query and answers with an empty NOERROR, so that tools continue. */
import { createSocket } from 'node:dgram';

export interface RecordingServer {
  readonly port: number;
  /** Queries in order of arrival, without their ids. */
  readonly queries: Buffer[];
  close(): Promise<void>;
}

export async function startRecordingServer(): Promise<RecordingServer> {
  const socket = createSocket('udp4');
  const queries: Buffer[] = [];
  socket.on('message', (message, from) => {
    queries.push(Buffer.from(message.subarray(2)));
    const answer = Buffer.from(message);
    answer[2] = (answer[2] ?? 0) | 0x80;
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    port: socket.address().port,
    queries,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
