/**
 * `PATH=$PATH:FOLDER_OF_COREDNS node --conditions @dinodns-bench/source packages/bench-cli/scripts/shared-machine/series.ts FILE
 * [--runs 10] [--share 0.6] [--rounds 12] [--duration 1] [--warmup 0.2] [--only coredns]`
 *
 * How good are verdicts on a machine that others use? Appends runs to FILE, each of `bench run` with the same CoreDNS twice, with one
 * that has a planted slowdown, and with the same NSD twice, beside a neighbour (`../neighbour.ts`) that takes up to `--share` of the CPUs, or alone
 * with `--share 0`. `report.ts` says what came out; docs/method.md has the figures. Ends with the first run that fails.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { entryOf } from '../../src/history/entry.ts';
import { type OkTrial, type RunRecord, recordSchema } from '../../src/results/record.ts';
import { median } from '../../src/stats/intervals.ts';
import { neighboursOf } from '../../src/stats/neighbours.ts';
import { type Causes, ofServers, type SeriesRun, type SeriesTrial, type ServerName } from './runs.ts';

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    share: { type: 'string', default: '0.6' },
    rounds: { type: 'string', default: '12' },
    duration: { type: 'string', default: '1' },
    warmup: { type: 'string', default: '0.2' },
    only: { type: 'string', default: '' },
  },
  allowPositionals: true,
});
const [file] = positionals;
if (file === undefined) throw new Error('the file of the series is missing');

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

interface Reading {
  readonly atMilliseconds: number;
  readonly cpu: number;
  readonly took: number;
}

/** A program beside the run, which ends with `using`. */
function beside(script: string, flags: readonly string[]): ChildProcess & Disposable {
  const child = spawn(process.execPath, [...process.execArgv, here(script), ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill() });
}

function causesOf(trial: OkTrial, readings: readonly Reading[]): Causes | null {
  const neighbours = neighboursOf(trial);
  const seconds = (trial.neighbours ?? []).reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const end = Date.parse(trial.endedAt);
  const until = readings.filter(({ atMilliseconds }) => atMilliseconds <= end);
  // The last one, if the probe waited for a CPU all the time.
  const during = until.filter(
    ({ atMilliseconds }, at) => atMilliseconds > end - 1000 * seconds || at === until.length - 1,
  );
  if (neighbours === null || neighbours.waitSeconds === null || during.length === 0) return null;
  return {
    taken: neighbours.stealCores + neighbours.otherCores,
    waiting: neighbours.waitSeconds / seconds,
    probe: median(during.map(({ cpu }) => cpu)),
    probeTook: median(during.map(({ took }) => took)),
  };
}

function lineOf(record: RunRecord, readings: readonly Reading[]): SeriesRun {
  const byKey = new Map(entryOf(record).cases.map((item) => [item.subject, item.key]));
  const trialsOf = (server: ServerName): SeriesTrial[] =>
    record.trials.flatMap((trial): SeriesTrial[] => {
      if (trial.status !== 'ok' || trial.caseKey !== byKey.get(server)) return [];
      const causes = causesOf(trial, readings);
      const { qps, latencySeconds: latency, cpuSecondsPerQuery: cpu } = trial.metrics;
      const { round } = trial;
      return causes === null ? [] : [{ round, taken: causes.taken, figures: { qps, latency, cpu }, causes }];
    });
  return {
    id: record.id,
    share: Number(values.share),
    seconds: Number(values.duration),
    trials: ofServers(trialsOf),
  };
}

const fileOf = (name: ServerName) => `${name.replace(/\d$/, '')}.yaml`;

async function bench(out: string): Promise<void> {
  const servers = Object.values(ofServers((name) => `${name}=${here(fileOf(name))}`));
  const flags = {
    servers: servers.filter((each) => values.only !== 'coredns' || !each.startsWith('nsd')).join(','),
    baseline: 'coredns1',
    ...{ duration: values.duration, warmup: values.warmup, trials: values.rounds, duet: 'off', out },
  };
  const argv = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(
    process.execPath,
    [...process.execArgv, here('../../src/main.ts'), 'run', ...argv, '--no-calibrate'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`bench ended with ${status}`);
}

async function measure(): Promise<SeriesRun> {
  const out = await mkdtemp(join(tmpdir(), 'series-'));
  try {
    using probe = beside('probe.ts', []);
    const readings: Reading[] = [];
    createInterface({ input: probe.stdout ?? process.stdin }).on('line', (line) => {
      const [atMilliseconds = 0, cpu = 0, took = 0] = line.split(' ').map(Number);
      readings.push({ atMilliseconds, cpu, took });
    });
    using _neighbour =
      values.share === '0'
        ? undefined
        : beside('../neighbour.ts', [
            '--share',
            values.share,
            '--seed',
            `${Date.now()}`,
            '--seconds',
            '3600',
          ]);
    await bench(out);
    const [folder = ''] = (await readdir(out)).filter((name) => /^\d{8}-/.test(name));
    const text = await readFile(join(out, folder, 'run.json'), 'utf8');
    return lineOf(recordSchema.parse(JSON.parse(text)), readings);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

for (let run = 0; run < Number(values.runs); run += 1) {
  await appendFile(file, `${JSON.stringify(await measure())}\n`);
}
