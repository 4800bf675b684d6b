/** The check of an echo server, whoever wrote it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { collector, open } from './sockets.ts';

async function start(command: string, ...args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = await once(child.stdout, 'data');
  return {
    child,
    ready: JSON.parse(String(line)) as { ready: boolean; address: string; port: number; pid: number },
  };
}

/** Starts the program, asks it once, and ends it. */
export async function behavesAsEcho(command: string, ...args: string[]): Promise<void> {
  const { child, ready } = await start(command, ...args, '--address', '127.0.0.1', '--port', '0');
  expect(ready).toMatchObject({ ready: true, address: '127.0.0.1', pid: child.pid });
  const { received, onBatch } = collector();
  const client = await open({ connect: { address: '127.0.0.1', port: ready.port }, onBatch });
  const query = Uint8Array.of(0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1);
  client.queue(query);
  await expect.poll(() => received.length).toBe(1);
  const response = query.slice();
  response[2] = 0x81;
  expect([...(received[0]?.bytes ?? [])]).toEqual([...response]);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}
