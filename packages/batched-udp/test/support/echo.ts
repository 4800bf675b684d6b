/** The check of an echo server, whoever wrote it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

const BUFFER_BYTES = 1024 * 1024;
/** More than Linux's default buffer holds (277), fewer than 1 MiB of the kernel's 768 bytes each. */
const BURST = 1000;

/** Whether the kernel grants the buffer that an echo requests. */
function hasRoom(): boolean {
  return Number(readFileSync('/proc/sys/net/core/rmem_max', 'utf8')) >= BUFFER_BYTES;
}

function isStopped(pid: number): boolean {
  return / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** Starts the program, asks it once, then with a burst while it has no CPU, and ends it. */
export async function behavesAsEcho(command: string, ...args: string[]): Promise<void> {
  const { child, ready } = await start(command, ...args, '--address', '127.0.0.1', '--port', '0');
  expect(ready).toMatchObject({ ready: true, address: '127.0.0.1', pid: child.pid });
  const { received, onBatch } = collector();
  const client = await open({
    connect: { address: '127.0.0.1', port: ready.port },
    receiveBufferBytes: BUFFER_BYTES,
    onBatch,
  });
  const query = Uint8Array.of(0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1);
  client.queue(query);
  await expect.poll(() => received.length).toBe(1);
  const response = query.slice();
  response[2] = 0x81;
  expect([...(received[0]?.bytes ?? [])]).toEqual([...response]);
  if (hasRoom()) {
    child.kill('SIGSTOP');
    await expect.poll(() => isStopped(ready.pid)).toBe(true);
    for (let i = 0; i < BURST; i++) expect(client.queue(query)).toBe(true);
    expect(client.flush()).toBe(BURST);
    child.kill('SIGCONT');
    await expect.poll(() => received.length).toBe(1 + BURST);
  }
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}
