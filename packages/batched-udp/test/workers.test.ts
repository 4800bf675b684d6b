/** Sockets in several worker threads at once, and what is left of them when a thread ends. */

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { open } from './support/sockets.ts';

const program = new URL('support/worker.ts', import.meta.url);
const localhost = '127.0.0.1';
const descriptors = () => readdirSync('/proc/self/fd').length;

/** UDP ports that are bound on this host's IPv4 side. */
function boundPorts(): number[] {
  const lines = readFileSync('/proc/net/udp', 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => Number.parseInt(/^\s*\d+: [0-9A-F]+:([0-9A-F]+)/.exec(line)?.[1] ?? '', 16));
}

async function start(workerData: object): Promise<Worker> {
  const worker = new Worker(program, { workerData });
  await once(worker, 'message');
  return worker;
}

it.each(['native', 'dgram'] as const)(
  'serves and asks from four threads at once over %s',
  async (backend) => {
    const first = await open({ backend, address: localhost, reusePort: true });
    const { port } = first.local;
    const before = descriptors();
    const servers = [
      await start({ role: 'echo', backend, port }),
      await start({ role: 'echo', backend, port }),
    ];
    await first.close();
    const results = await Promise.all(
      [1, 2].map(async (seed) => {
        const worker = new Worker(program, { workerData: { role: 'ask', backend, port, seed, count: 2000 } });
        const [result] = await once(worker, 'message');
        await worker.terminate();
        return result;
      }),
    );
    expect(results).toEqual([1, 2].map((seed) => ({ seed, answered: 2000, wrong: 0 })));
    await Promise.all(servers.map((worker) => worker.terminate()));
    expect(boundPorts()).not.toContain(port);
    expect(descriptors()).toBeLessThanOrEqual(before);
  },
);

it.each(['terminate', 'exit'] as const)('closes the socket of a thread that ends by %s', async (way) => {
  const before = descriptors();
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(program, { workerData: { role: 'echo', backend: 'native', port: 0 } });
    const [{ port }] = await once(worker, 'message');
    expect(boundPorts()).toContain(port);
    const gone = once(worker, 'exit');
    if (way === 'terminate') await worker.terminate();
    else worker.postMessage('exit');
    await gone;
    expect(boundPorts()).not.toContain(port);
  }
  expect(descriptors()).toBe(before);
});
