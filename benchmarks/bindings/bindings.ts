/**
 * Ways from JavaScript to the kernel: koffi, and a Node-API addon in C (compiled here, if there is a compiler). One operation is one datagram received and sent back, with the client's sending
 * and receiving on top, which is the same koffi code in all cases.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { include_dir } from 'node-api-headers';
import { openDescriptor } from '../../packages/batched-udp/src/native/descriptor.ts';
import { loadLibc } from '../../packages/batched-udp/src/native/koffi.ts';
import { constants } from '../../packages/batched-udp/src/native/layout.ts';
import type { Libc } from '../../packages/batched-udp/src/native/libc.ts';
import { ReceiveArena } from '../../packages/batched-udp/src/native/receive-arena.ts';
import { settle } from '../../packages/batched-udp/src/options.ts';
import type { Case, Suite } from '../harness.ts';

type Calls = Pick<Libc, 'recvmmsg' | 'sendmmsg'>;

/** The addon, or undefined if it cannot be compiled. */
function compileAddon(): Calls | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'batched-udp-addon-'));
  const binary = join(directory, 'addon.node');
  const source = fileURLToPath(new URL('addon.c', import.meta.url));
  try {
    const options = ['-O2', '-shared', '-fPIC', `-I${include_dir}`];
    execFileSync('cc', [...options, '-o', binary, source], { stdio: 'inherit' });
    return createRequire(import.meta.url)(binary);
  } catch (error) {
    console.error(`no addon in the comparison: ${error instanceof Error ? error.message : error}`);
    return undefined;
  } finally {
    rmSync(directory, { recursive: true }); // Loaded code stays loaded.
  }
}

const onBatch = () => undefined;

function exchange(name: string, libc: Libc, calls: Calls, batchSize: number): Case {
  const { MSG_DONTWAIT } = constants;
  const arenaOptions = { family: 4, batchSize, slotBytes: 4096, timestamps: false } as const;
  const server = openDescriptor(libc, settle({ address: '127.0.0.1', onBatch }));
  const client = openDescriptor(libc, settle({ connect: server.local, onBatch }));
  const serverArena = new ReceiveArena(libc, { ...arenaOptions, connected: false });
  const clientArena = new ReceiveArena(libc, { ...arenaOptions, connected: true });
  const fill = (arena: ReceiveArena) => {
    arena.count = batchSize;
    for (let i = 0; i < batchSize; i++) arena.reply(i, 30);
    return arena.takeReplies();
  };
  return {
    name: `${name}, batches of ${batchSize}`,
    run(count) {
      let done = 0;
      while (done < count) {
        libc.sendmmsg(client.fd, clientArena.repliesAddress, fill(clientArena), MSG_DONTWAIT);
        const received = calls.recvmmsg(server.fd, serverArena.address, batchSize, MSG_DONTWAIT, 0);
        serverArena.load(received);
        for (let i = 0; i < received; i++) serverArena.reply(i, 30);
        calls.sendmmsg(server.fd, serverArena.repliesAddress, serverArena.takeReplies(), MSG_DONTWAIT);
        done += libc.recvmmsg(client.fd, clientArena.address, batchSize, MSG_DONTWAIT, 0);
      }
      return done;
    },
    close() {
      server.close();
      client.close();
    },
  };
}

export const bindingsSuite: Suite = {
  name: 'udp-bindings',
  unit: 'exchange',
  async open() {
    const libc = await loadLibc();
    const addon = compileAddon();
    const ways: [string, Calls][] = [['koffi', libc]];
    if (addon)
      ways.push([
        'addon',
        { recvmmsg: (fd, at, n, flags) => addon.recvmmsg(fd, at, n, flags, 0), sendmmsg: addon.sendmmsg },
      ]);
    return [1, 8, 64].flatMap((batchSize) =>
      ways.map(([name, calls]) => exchange(name, libc, calls, batchSize)),
    );
  },
};
