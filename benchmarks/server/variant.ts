/** A server of the table "Middleware, handlers and their cost", by its number there: started by `middleware.ts`. */
import { createServer, observe } from '@dinodns-bench/server-cluster';
import { defineZoneSet } from '@dinodns-bench/zones';
import type { VariantName } from './middleware.ts';

const HANDLED_NAMES = 10;
const METRICS_MS = 1000;

const name = process.argv[2] as VariantName;
const own = createServer({
  zones: defineZoneSet({ from: 1, to: 200 }),
  mode: 'single',
  port: 0,
  ...(name === 'rate limit' ? { rateLimit: { rate: 1_000_000 } } : {}),
  ...(name === 'metrics' ? { metrics: { port: 0 } } : {}),
});

const passOn: Parameters<typeof own.server.use>[0] = (_request, _response, next) => next();
if (name === 'handlers') {
  for (let i = 1; i <= HANDLED_NAMES; i++)
    own.server.handle(`handled${i}.example`, (_request, response) => response.errors.refused());
}
if (name === 'observed 1 %') own.server.use(observe(passOn, { sample: 0.01 }));
if (name === 'observed 10 %') own.server.use(observe(passOn, { sample: 0.1 }));
if (name === 'middleware') own.server.use(passOn);

const ready = await own.start();
if (ready.metricsPort !== undefined) {
  setInterval(
    () => fetch(`http://127.0.0.1:${ready.metricsPort}/metrics`).then((reply) => reply.text()),
    METRICS_MS,
  );
}
console.log(JSON.stringify(ready));
process.once('SIGTERM', () => process.exit(0));
