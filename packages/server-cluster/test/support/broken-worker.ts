/** A program of the library whose workers die: `before` they serve, or shortly `after`. */
import cluster from 'node:cluster';
import { createServer, ServerError } from '../../src/index.ts';

const [when] = process.argv.slice(2);
if (cluster.isWorker && when === 'before') process.exit(7);
const server = createServer({ mode: 'multi', workers: 1, port: 0 });
process.once('SIGTERM', () => {
  if (cluster.isPrimary) void server.stop().then(() => process.exit(0));
});
try {
  const ready = await server.start();
  if (cluster.isPrimary) console.log(JSON.stringify(ready));
  else setTimeout(() => process.exit(7), 300);
} catch (error) {
  if (!(error instanceof ServerError)) throw error;
  console.error(`${error.message} [${error.code}]`);
  process.exit(error.exitStatus);
}
