/** A DinoDNS application that answers from a database: see README.md. */
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { parseArgs } from 'node:util';
import { createServer } from '@dinodns-bench/server-cluster';
import { openStore } from './store.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite:records.db' },
    // Fills the database at the start and on SIGHUP. Without it, somebody else does.
    zones: { type: 'string' },
    address: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '1053' },
    workers: { type: 'string', default: '1' },
    // HTTP: /health and /ready.
    'health-port': { type: 'string' },
  },
});

/** A process of its own does it, so that no question waits for it. Rejects if it fails, and then nothing has changed. */
async function fill(zones: string): Promise<void> {
  const flags = ['--store', values.store, '--zones', zones];
  const command = [...process.execArgv, `${import.meta.dirname}/fill.ts`, ...flags];
  const [status] = await once(
    spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );
  if (status !== 0) throw new Error('The database was not filled.');
}

/**
 * `/health`: this process lives, and a restart would not mend the database. `/ready`: the database answers now. Returns the
 * port, which is free if `port` is 0.
 */
async function serveHealth(port: number): Promise<number | undefined> {
  const http = createHttpServer((request, response) => {
    store
      .check()
      .then(
        () => 'answers',
        (error: Error) => error.message,
      )
      .then((database) => {
        const isReady = database === 'answers';
        const known = request.url === '/health' || request.url === '/ready';
        response.writeHead(!known ? 404 : request.url === '/health' || isReady ? 200 : 503);
        response.end(`${JSON.stringify({ healthy: true, ready: isReady, database })}\n`);
      });
  });
  http.listen({ port, host: values.address, exclusive: true });
  await once(http, 'listening');
  const address = http.address();
  return typeof address === 'object' ? address?.port : undefined;
}

const { zones } = values;
if (cluster.isPrimary && zones !== undefined) {
  await fill(zones);
  process.on('SIGHUP', () => fill(zones).catch((error: Error) => console.error(error.message)));
}
const store = openStore(values.store);
store.on('lost', (error: Error) => console.error(`The database is lost: ${error.message}`));
store.on('back', () => console.error('The database is back.'));

const server = createServer({
  ...(values.workers === '1' ? {} : { mode: 'multi', workers: Number(values.workers) }),
  address: values.address,
  port: Number(values.port),
  // None in memory: the store answers, and what it leaves is REFUSED.
  zones: { zones: () => [] },
});
server.server.use(store.handler);

const ready = await server.start();
if (cluster.isPrimary) {
  const port = values['health-port'];
  console.log(
    JSON.stringify({
      ...ready,
      ...(port === undefined ? {} : { healthPort: await serveHealth(Number(port)) }),
    }),
  );
  process.once('SIGTERM', async () => {
    await server.stop();
    process.exit();
  });
}
