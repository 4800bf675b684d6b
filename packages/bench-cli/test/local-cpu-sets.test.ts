import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { assignCpus, availableCpuNumbers } from '../src/targets/local/cpu-sets.ts';
import { findFreePort } from '../src/targets/local/free-port.ts';
import { realWorld } from '../src/world.ts';

describe('assigning CPUs', () => {
  test('gives each server the next whole CPUs and the loaders the rest', () => {
    expect(assignCpus([0, 1, 2, 3, 4, 5], [1, 2])).toEqual({
      servers: [[0], [1, 2]],
      loader: [3, 4, 5],
      overlap: false,
    });
    expect(assignCpus([2, 5], [0.5])).toEqual({ servers: [[2]], loader: [5], overlap: false });
    expect(assignCpus([0, 1, 2, 3], [1.5])).toEqual({ servers: [[0, 1]], loader: [2, 3], overlap: false });
  });

  test('says when CPUs have more than one owner', () => {
    expect(assignCpus([0, 1], [1, 1])).toEqual({ servers: [[0], [1]], loader: [0, 1], overlap: true });
    expect(assignCpus([0, 1], [1, 1, 1])).toEqual({
      servers: [[0], [1], [0]],
      loader: [0, 1],
      overlap: true,
    });
    expect(assignCpus([0, 1], [4])).toEqual({ servers: [[0, 1]], loader: [0, 1], overlap: true });
  });

  test('begins with the CPUs that this process may use', async () => {
    const world = realWorld();
    expect(await availableCpuNumbers(world)).toHaveLength(availableParallelism());
  });
});

test('a free port can be bound over UDP and over TCP', async () => {
  const port = await findFreePort('127.0.0.1');
  const udp = createSocket('udp4');
  const tcp = createServer();
  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, '127.0.0.1', resolve);
  });
  await new Promise<void>((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen(port, '127.0.0.1', resolve);
  });
  udp.close();
  await new Promise((resolve) => tcp.close(resolve));
});

// Of 256 random ones out of 28,000, two would be the same in two runs of three.
test('no port is found twice in a row of starts', async () => {
  const found: number[] = [];
  while (found.length < 256) found.push(await findFreePort('127.0.0.1'));
  expect(new Set(found).size).toBe(found.length);
});
