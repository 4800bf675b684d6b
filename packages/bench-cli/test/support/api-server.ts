/** An API server of a test's own making, and a world whose kubeconfig leads to it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type TestWorld, testWorld } from './test-world.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A kubeconfig that leads to it is the one of the world. */
export async function useCluster(world: TestWorld, server: string): Promise<void> {
  const path = `${world.directory}/kubeconfig`;
  await world.fs.writeFile(
    path,
    JSON.stringify({
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'c', user: 'u' } }],
      // client-node speaks plain HTTP only when told that nothing is verified.
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
    }),
  );
  Object.assign(world.env, { KUBECONFIG: path });
}

/** Gone, with its world, when the test has finished. */
export async function worldOfApi(handler: Handler): Promise<TestWorld> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const world = await testWorld();
  await useCluster(world, `http://127.0.0.1:${port}`);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await world.remove();
  });
  return world;
}

export function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export const refusal = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  code,
  reason,
  message,
});
