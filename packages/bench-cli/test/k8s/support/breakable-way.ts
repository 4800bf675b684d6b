/** A way to the API server that a test can break, for one client only: nobody else in the cluster notices. */
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `mute`: requests arrive, answers do not. `closed`: connections end at once. */
export type WayState = 'open' | 'mute' | 'closed';

export interface BreakableWay {
  /** Of the same account; its server is this way. */
  readonly kubeconfig: string;
  set(state: WayState): void;
  close(): Promise<void>;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly name: string; readonly cluster: { readonly server: string } }];
}

/** @param kubeconfig As `makeAccount` writes it. Its server must have a certificate for 127.0.0.1. */
export async function breakableWay(kubeconfig: string): Promise<BreakableWay> {
  const config: Kubeconfig = JSON.parse(await readFile(kubeconfig, 'utf8'));
  const [{ name, cluster }] = config.clusters;
  const { hostname, port } = new URL(cluster.server);
  const sockets = new Set<Socket>();
  let state: WayState = 'open';
  const hold = (socket: Socket, peer: Socket) => {
    sockets.add(socket);
    socket.on('error', () => peer.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      peer.destroy();
    });
  };
  const server = createServer((client) => {
    if (state === 'closed') {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port || '443'), hostname);
    hold(client, upstream);
    hold(upstream, client);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (state === 'open') client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: ownPort } = server.address() as AddressInfo;
  const path = `${kubeconfig}.breakable`;
  const clusters = [{ name, cluster: { ...cluster, server: `https://127.0.0.1:${ownPort}` } }];
  await writeFile(path, JSON.stringify({ ...config, clusters }), { mode: 0o600 });
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    kubeconfig: path,
    set(next) {
      state = next;
      if (next === 'closed') end();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        end();
      }),
  };
}
