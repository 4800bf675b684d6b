/**
 * An hour's worth of trouble in two minutes: workers killed every second under load, zones reloaded every second,
 * now and then from a file that is wrong. Counts the queries that were lost, and the answers that were wrong.
 *
 *     node packages/server-cluster/test/soak/churn.ts --seconds 120 [--rate 5000] [--workers 2] [-- flags]
 *
 * Prints the result as JSON; exits with 1 if an answer was wrong or the server did not live through it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
import {
  childrenOf,
  killAll,
  type RunningServer,
  sleep,
  startServer,
  until,
} from '../support/server-process.ts';
import { RateClient } from './rate-client.ts';

const ZONES = 100;
/** One in this many files is no zones file: the zones of before must be served on. */
const BAD_EVERY = 10;

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    rate: { type: 'string', default: '5000' },
    workers: { type: 'string', default: '2' },
    'kill-every': { type: 'string', default: '1' },
    'reload-every': { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);

/** The zones of one generation: the last byte of every address says which. */
async function writeZones(file: string, generation: number): Promise<void> {
  const zoneSet = defineZoneSet({ from: 1, to: 2 * ZONES, records: [`60 A 192.0.2.${generation}`] });
  const [rendered] = findFormat('dinodns-json').render(zoneSet);
  await writeFile(file, [...(rendered?.chunks ?? [])].join(''));
}

/** Does something every `period` seconds until `deadline`, as long as that lies ahead. */
async function every(
  period: number,
  deadline: number,
  act: (turn: number) => Promise<void> | void,
): Promise<void> {
  if (period <= 0) return;
  for (let turn = 1; performance.now() + period * 1000 < deadline; turn++) {
    await sleep(period);
    await act(turn);
  }
}

class Churn {
  kills = 0;
  reloads = 0;
  badReloads = 0;
  /** The generation that all workers have served for sure, and the one that they may be going over to. */
  #oldest = 1;
  #newest = 1;
  /** When the server has said that a generation is not served any more. */
  readonly #endedAt = new Map<number, number>();
  readonly #server: RunningServer;
  readonly #file: string;

  constructor(server: RunningServer, file: string) {
    this.#server = server;
    this.#file = file;
  }

  /** Whether the generation may have been served at any time since then. */
  isRight(generation: number, askedAt: number): boolean {
    if (generation === this.#newest || generation === this.#oldest) return true;
    return askedAt <= (this.#endedAt.get(generation) ?? 0);
  }

  kill(turn: number): void {
    if (this.#server.child.exitCode !== null) return;
    const workers = childrenOf(this.#server.pid);
    const victim = workers[turn % Math.max(1, workers.length)];
    if (victim === undefined) return;
    process.kill(victim, 'SIGKILL');
    this.kills++;
  }

  async reload(turn: number): Promise<void> {
    const said = (text: string) => this.#server.stderr.split(text).length;
    if (turn % BAD_EVERY === 0) {
      await writeFile(this.#file, 'no zones');
      const before = said('[E_ZONES]');
      this.#server.child.kill('SIGHUP');
      if (await until(() => said('[E_ZONES]') > before, 10)) this.badReloads++;
      return;
    }
    const next = (this.#newest % 250) + 1;
    await writeZones(this.#file, next);
    this.#newest = next;
    const before = said('Zones reloaded');
    this.#server.child.kill('SIGHUP');
    if (!(await until(() => said('Zones reloaded') > before, 10))) return;
    this.reloads++;
    this.#endedAt.set(this.#oldest, performance.now());
    this.#oldest = next;
  }
}

async function run(file: string): Promise<boolean> {
  await writeZones(file, 1);
  const workers = Number(values.workers);
  const flags = [
    '--mode',
    'multi',
    '--workers',
    String(workers),
    '--zones-file',
    file,
    '--log-level',
    'info',
  ];
  const server = await startServer([...flags, ...positionals]);
  const churn = new Churn(server, file);
  const client = new RateClient({
    port: server.ready.port,
    zones: ZONES,
    rate: Number(values.rate),
    isRight: (generation, askedAt) => churn.isRight(generation, askedAt),
  });
  await client.start();
  const deadline = performance.now() + seconds * 1000;
  await Promise.all([
    every(Number(values['kill-every']), deadline, (turn) => churn.kill(turn)),
    every(Number(values['reload-every']), deadline, (turn) => churn.reload(turn)),
    sleep(seconds),
  ]);
  const counts = await client.stop();
  const isThere = () => server.child.exitCode === null && server.child.signalCode === null;
  const isWhole = await until(() => isThere() && childrenOf(server.pid).length >= workers, 20);
  const exit = await server.stop();
  const { kills, reloads, badReloads } = churn;
  const lives = isWhole && exit.code === 0;
  if (!lives) console.error(`${JSON.stringify({ isWhole, exit })}\n${server.stderr.slice(-8000)}`);
  const sound = counts.wrong === 0 && lives && reloads > 0;
  const lostPerKill = kills === 0 ? 0 : counts.lost / kills;
  const balance = positionals.join(' ');
  console.log(
    JSON.stringify(
      { sound, seconds, workers, flags: balance, kills, reloads, badReloads, ...counts, lostPerKill, lives },
      null,
      2,
    ),
  );
  return sound;
}

const directory = await mkdtemp(join(tmpdir(), 'server-cluster-churn-'));
try {
  process.exitCode = (await run(join(directory, 'zones.ndjson'))) ? 0 : 1;
} finally {
  await killAll();
  await rm(directory, { recursive: true });
}
