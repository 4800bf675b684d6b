/** A program that uses the library and gives its workers other zones on SIGUSR2. */
import cluster from 'node:cluster';
import { createServer } from '../../src/index.ts';
import { record, zone } from './in-process.ts';

const zonesOf = (address: string) => ({ zones: () => [zone([record('www.example.org', 'A', address)])] });

const server = createServer({
  mode: 'multi',
  workers: 2,
  port: 0,
  metrics: { port: 0 },
  zones: zonesOf('192.0.2.1'),
});
if (cluster.isPrimary) {
  process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
  process.on('SIGUSR2', () => void server.reload(zonesOf('192.0.2.2')));
}
const ready = await server.start();
if (cluster.isPrimary) console.log(JSON.stringify(ready));
