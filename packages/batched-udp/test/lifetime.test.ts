/** How long a socket lives, and how long it keeps its process alive; in processes of their own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('..', import.meta.url));

async function evaluate(program: string): Promise<string> {
  const code = `import { openUdpSocket } from '@dinodns-bench/batched-udp';\n${program}`;
  const args = ['--expose-gc', '--input-type=module', '--eval', code];
  const { stdout } = await run(process.execPath, args, { cwd, timeout: 50_000 });
  return stdout;
}

it.each(['native', 'dgram'])('goes on serving over %s when nobody keeps it', async (backend) => {
  const program = `
    const echo = (batch) => { for (let i = 0; i < batch.count; i++) batch.reply(i, batch.lengths[i]); };
    const open = async () => (await openUdpSocket({ backend: '${backend}', address: '127.0.0.1', onBatch: echo })).local;
    const server = await open();
    for (let i = 0; i < 5; i++) { gc(); await new Promise((resolve) => setTimeout(resolve, 1)); }
    const client = await openUdpSocket({ connect: server, onBatch: () => { console.log('served'); process.exit(0); } });
    setInterval(() => { gc(); client.queue(new Uint8Array(5)); }, 10);`;
  expect(await evaluate(program)).toBe('served\n');
});

it.each(['native', 'dgram'])('keeps its process alive over %s until it is closed', async (backend) => {
  const program = `
    const socket = await openUdpSocket({ backend: '${backend}', address: '127.0.0.1', onBatch: () => undefined });
    setTimeout(async () => { console.log('still there'); await socket.close(); console.log('closed'); }, 50).unref();`;
  expect(await evaluate(program)).toBe('still there\nclosed\n');
});
