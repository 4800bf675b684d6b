/**
 * The table "Middleware, handlers and their cost" of packages/server-cluster/README.md: CPU time per query of servers with different
 * things registered, in turns, each on one core and dnsperf with 20 clients on another.
 *
 *     pnpm exec node benchmarks/server/middleware.ts [--rounds 5] [--seconds 2]
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSecondsOf, type Listening, pinned, quantile, startPinned, writeQueries } from '../load/pinned.ts';

/** What is registered, as the table has it, and which queries then use the framework. */
const VARIANTS = {
  nothing: ['nothing but the store', 'none'],
  handlers: ["`server.handle('name', …)`, ten of them", 'those for names with a handler'],
  'observed 1 %': ['`server.use(observe(logger.handler, { sample: 0.01 }))`', '1 %'],
  'observed 10 %': ['`server.use(observe(logger.handler, { sample: 0.1 }))`', '10 %'],
  middleware: ['`server.use(logger.handler)`, any middleware', 'all'],
  'rate limit': ['`--rrl-rate`, response rate limiting', 'none'],
  metrics: ['`--metrics-port`, read every second', 'none'],
} as const;
export type VariantName = keyof typeof VARIANTS;

const SERVER_CORE = '0';
const LOADER_CORE = '1';
const program = new URL('./variant.ts', import.meta.url).pathname;

async function costOf({ port, child }: Listening, queries: string, seconds: string): Promise<number> {
  const before = cpuSecondsOf(child.pid ?? 0);
  const load = ['-s', '127.0.0.1', '-p', String(port), '-d', queries, '-c', '20', '-l', seconds];
  const { output } = await pinned(LOADER_CORE, ['dnsperf', ...load]);
  const completed = Number(/Queries completed: +(\d+)/.exec(output)?.[1]);
  return ((cpuSecondsOf(child.pid ?? 0) - before) / completed) * 1e6;
}

async function compare(rounds: number, seconds: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'middleware-'));
  const queries = writeQueries(directory);
  const servers: { name: VariantName; server: Listening; costs: number[] }[] = [];
  try {
    for (const name of Object.keys(VARIANTS) as VariantName[]) {
      const server = await startPinned(SERVER_CORE, [process.execPath, program, name]);
      servers.push({ name, server, costs: [] });
      await costOf(server, queries, '1');
    }
    for (let round = 0; round < rounds; round++) {
      for (const { server, costs } of round % 2 === 0 ? servers : servers.toReversed()) {
        costs.push(await costOf(server, queries, seconds));
      }
    }
  } finally {
    for (const { server } of servers) {
      server.child.kill();
      await once(server.child, 'exit');
    }
    rmSync(directory, { recursive: true });
  }
  const rows = servers.map(({ name, costs }) => {
    const [registered, through] = VARIANTS[name];
    return `| ${registered} | ${through} | ${quantile(costs, 0.5).toFixed(1)} µs |`;
  });
  console.log(
    ['| registered | queries that use the framework | CPU per query |', '|---|---|---|', ...rows].join('\n'),
  );
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
  });
  await compare(Number(values.rounds), values.seconds);
}
