/** A program of the library whose workers die: `before` they serve, or shortly `after`. */
import cluster from 'node:cluster';

const [when] = process.argv.slice(2);
// Before the library loads, which takes most of a start.
if (cluster.isWorker && when === 'before') process.exit(7);
const { createServer, ServerError } = await import('../../src/index.ts');
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
