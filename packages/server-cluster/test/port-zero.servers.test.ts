/** A datagram from port 0, to which nothing can be answered. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { needs, pathOf } from '@dinodns-bench/test-support';
import { afterEach, expect, test } from 'vitest';
import { ask, query } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

const execute = promisify(execFile);
afterEach(killAll);

// A raw socket needs the right to open one, and Node.js has none.
test.each(['native', 'dgram'])(
  'gets no answer from the UDP backend %s',
  needs('python3', 'root'),
  async (backend) => {
    const server = await startServer(['--udp-backend', backend]);
    const payload = query('example1.com').toString('hex');
    const script = `
import socket, struct
payload = bytes.fromhex('${payload}')
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
for _ in range(20):
    raw.sendto(struct.pack('!HHHH', 0, ${server.ready.port}, 8 + len(payload), 0) + payload, ('127.0.0.1', 0))
`;
    await execute(pathOf('python3'), ['-c', script]);
    expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
    expect(server.child.exitCode).toBeNull();
    expect(server.stderr).toBe('');
  },
);
