/**
 * A server that returns every datagram with the QR bit set, so that a DNS client accepts it as a response. It shows
 * the cost of this package alone, and so the upper limit for a DNS server built on it.
 */
import { parseArgs } from 'node:util';
import { exitStatusHelp, ProgramError, reportError, systemErrorCode } from '@dinodns-bench/program';
import { UdpError } from './errors.ts';
import { openUdpSocket } from './open.ts';
import type { Backend, Batch, Waiting } from './socket.ts';

const usage = `udp-echo [--address 127.0.0.1] [--port 0] [--backend auto|native|dgram]
         [--batch 64] [--reuse-port] [--wait-in kernel|event-loop]
         [--busy-poll 0] [--receive-buffer 1048576]

Sends every datagram back with the DNS header's QR bit set.
--busy-poll is how many microseconds it looks for datagrams before it waits for
them. --receive-buffer is how many bytes to request with SO_RCVBUF, which
net.core.rmem_max caps; 0 keeps the kernel's size. The default is that of the
servers of dinodns-bench and of udp-echo.c.
When it is ready, it prints one line of JSON,
{"ready":true,"address":…,"port":…,"pid":…,"backend":…,"waitsIn":…},
and it stops on SIGTERM or SIGINT with status 0.
${exitStatusHelp(['success', 'internal', 'usage', 'environment'], { success: 'stopped, or help shown' })}
`;

function echo(batch: Batch): 'nothing' {
  const { bytes, offsets, lengths, count } = batch;
  for (let i = 0; i < count; i++) {
    const length = lengths[i] as number;
    const flags = (offsets[i] as number) + 2;
    if (length > 2) bytes[flags] = (bytes[flags] as number) | 0x80;
    batch.reply(i, length);
  }
  return 'nothing'; // Is left to the event loop.
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      address: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '0' },
      backend: { type: 'string', default: 'auto' },
      batch: { type: 'string', default: '64' },
      'reuse-port': { type: 'boolean', default: false },
      'wait-in': { type: 'string', default: 'kernel' },
      'busy-poll': { type: 'string', default: '0' },
      'receive-buffer': { type: 'string', default: String(1024 * 1024) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const receiveBufferBytes = Number(values['receive-buffer']);
  const socket = await openUdpSocket({
    backend: values.backend as Backend | 'auto', // Checked by openUdpSocket.
    address: values.address,
    port: Number(values.port),
    batchSize: Number(values.batch),
    reusePort: values['reuse-port'],
    waitIn: values['wait-in'] as Waiting, // Checked by openUdpSocket.
    busyPollMicroseconds: Number(values['busy-poll']),
    ...(receiveBufferBytes === 0 ? {} : { receiveBufferBytes }),
    onBatch: echo,
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      socket.close();
    });
  }
  const { address, port } = socket.local;
  const ready = {
    ready: true,
    address,
    port,
    pid: process.pid,
    backend: socket.backend,
    waitsIn: socket.waitsIn,
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

/** Converts errors that a user can act on to the shape that all programs share; the rest are bugs. */
function explained(error: unknown): unknown {
  const code = systemErrorCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const isUsage = code.startsWith('ERR_PARSE_ARGS_') || code.startsWith('ERR_UDP_');
  if (!isUsage && !(error instanceof UdpError)) return error;
  const fix = isUsage ? '`udp-echo --help` lists the flags' : 'choose another --address, --port or --backend';
  return new ProgramError(code, isUsage ? 'usage' : 'environment', {
    problems: [{ problem: error.message, fix }],
    cause: error,
  });
}

try {
  await main();
} catch (error) {
  process.exitCode = reportError(explained(error), 'udp-echo', process);
}
