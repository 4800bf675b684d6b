/** `unstarted-worker.ts PATH TIMES`: a program of the library that looks for Node.js at PATH until that has failed so often. */
import cluster from 'node:cluster';
import { createServer, ServerError } from '../../src/index.ts';

const [path = '', times] = process.argv.slice(2);
const { execPath } = process;
let failures = 0;

const server = createServer({
  mode: 'multi',
  workers: 1,
  port: 0,
  log: {
    error: (fields, message) => console.error(message, fields),
    warn: (_fields, message) => {
      console.error(message);
      if (message.includes('could not be started') && ++failures === Number(times))
        process.execPath = execPath;
    },
    info: () => undefined,
    debug: () => undefined,
  },
});
process.once('SIGTERM', () => {
  if (cluster.isPrimary) void server.stop().then(() => process.exit(0));
});
if (cluster.isPrimary) process.execPath = path;
try {
  const ready = await server.start();
  if (cluster.isPrimary) console.log(JSON.stringify(ready));
} catch (error) {
  if (!(error instanceof ServerError)) throw error;
  console.error(`${error.message} [${error.code}]`);
  process.exit(error.exitStatus);
}
