/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/aa-verdicts.ts --out aa.ndjson [--servers nsd,coredns]
 * [--comparisons 400] [--rounds 3] [--mode duet|trials] [--slice 0.2] [--warmup 0.1] [--seconds 1500]`
 *
 * How often are equal servers told apart? Measures each server against itself, as `bench run --aa` does (processes started
 * anew for each round, real servers, real load), but in slices far shorter than `bench` accepts, so that hundreds of
 * comparisons take minutes. Each round is appended to the file as it ends; started again with the same file, the script goes
 * on where it stopped. It ends after `--comparisons`, of all servers together, or after `--seconds`. With `--report`, it
 * only prints what the file says. docs/method.md has the figures.
 */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DecidedServers } from '../src/engine/servers.ts';
import { decideRun } from '../src/experiments/compare/decide.ts';
import { listenForInterruption } from '../src/interruption.ts';
import { runDuetRound } from '../src/measure/duet.ts';
import { serverWorkloads } from '../src/measure/learned-answers.ts';
import { type Prepared, prepareRun } from '../src/measure/prepare.ts';
import { runTrial, type TrialOutcome } from '../src/measure/trial.ts';
import type { TrialContext } from '../src/measure/trial-context.ts';
import { blocksOfTrials, type PlannedTrial, withRounds } from '../src/plan/plan.ts';
import { createDisplay } from '../src/progress/display.ts';
import type { TrialMetrics } from '../src/results/record.ts';
import { newRunId } from '../src/results/run-id.ts';
import type { Server } from '../src/servers/server.ts';
import { median } from '../src/stats/intervals.ts';
import { COMPARED_METRICS, type ComparedMetric } from '../src/stats/metrics.ts';
import { comparePairs } from '../src/stats/summarize.ts';
import { writeQueryFile } from '../src/workload/load-workload.ts';
import { predictedCodes } from '../src/workload/workload.ts';
import { realWorld } from '../src/world.ts';

/** A line of the file. `failure`: why there are no figures. */
interface Round {
  readonly server: string;
  readonly mode: string;
  readonly seconds: number;
  readonly figures: { readonly first: TrialMetrics; readonly twin: TrialMetrics } | null;
  readonly failure: string | null;
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    servers: { type: 'string', default: 'nsd,coredns' },
    comparisons: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '3' },
    mode: { type: 'string', default: 'duet' },
    slice: { type: 'string', default: '0.2' },
    warmup: { type: 'string', default: '0.1' },
    seconds: { type: 'string', default: '1500' },
    report: { type: 'boolean', default: false },
  },
});
const file = values.out;
if (file === undefined) throw new Error('--out: the file of the rounds is missing');
const names = values.servers.split(',');
const roundsEach = Number(values.rounds);
const wanted = Math.ceil(Number(values.comparisons) / names.length) * roundsEach;

async function roundsSoFar(path: string): Promise<Round[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): Round => JSON.parse(line))
    .filter(({ mode }) => mode === values.mode);
}

/** Load at the beginning of a slice that does not count: a fifth of `bench run --duet`, as the slices are. */
const SETTLE_SECONDS = 0.04;

const SILENT = { phase: () => undefined, rate: () => undefined, trialStarted: () => undefined };

const world = realWorld();

function figuresOf(block: readonly PlannedTrial[], outcomes: readonly TrialOutcome[]): Round['figures'] {
  const trialOf = (aa: boolean) => outcomes[block.findIndex((planned) => planned.case.aa === aa)]?.trial;
  const [first, twin] = [trialOf(false), trialOf(true)];
  return first?.status === 'ok' && twin?.status === 'ok'
    ? { first: first.metrics, twin: twin.metrics }
    : null;
}

/** The settings of a run of one server against itself; those that are shorter than `bench` accepts are replaced afterwards. */
async function decide(name: string, directory: string): Promise<DecidedServers> {
  const flags = { servers: name, aa: 'true', duet: 'on', zones: '20', loader: 'dnsperf', out: directory };
  const run = await decideRun(world, { flags: { ...flags, calibrate: 'false' }, file: undefined });
  const { configuration } = run;
  return {
    ...run,
    configuration: {
      ...configuration,
      durationSeconds: Number(values.slice),
      warmupSeconds: Number(values.warmup),
    },
  };
}

async function contextOf(
  { configuration, zoneSet }: DecidedServers,
  { session, programs, workloads: [workload] }: Prepared,
  directory: string,
  signal: AbortSignal,
): Promise<TrialContext> {
  if (workload === undefined) throw new Error('no workload');
  const queryFile = join(directory, 'queries.txt');
  await writeQueryFile(world, queryFile, workload);
  return {
    world,
    configuration,
    zoneSet,
    workloads: new Map([[workload.name, { workload, queryFile }]]),
    target: session.target,
    loader: session.loader,
    rawDirectory: join(directory, 'raw'),
    programOf: programs.programOf,
    answersOf: serverWorkloads(zoneSet, configuration),
    predictedCodes: (server, asked) => predictedCodes(zoneSet, server, asked),
    signal,
  };
}

/** Both trials of a round. */
async function measureRound(
  context: TrialContext,
  server: Server,
  block: readonly PlannedTrial[],
): Promise<Round> {
  const began = world.clock.monotonicSeconds();
  const sliceSeconds = context.configuration.durationSeconds;
  const outcomes: TrialOutcome[] = [];
  if (values.mode === 'duet') {
    const entrants = block.map((planned) => ({ planned, server }));
    const duet = { slices: 1, sliceSeconds, settleSeconds: SETTLE_SECONDS };
    outcomes.push(...(await runDuetRound(context, entrants, duet, SILENT)));
  } else {
    for (const planned of block) outcomes.push(await runTrial(context, planned, server, SILENT));
  }
  const failures = outcomes.flatMap(({ trial }) => (trial.status === 'failed' ? trial.failure.message : []));
  return {
    server: server.name,
    mode: values.mode,
    seconds: world.clock.monotonicSeconds() - began,
    figures: figuresOf(block, outcomes),
    failure: failures[0] ?? null,
  };
}

/** Measures rounds of one server until there are enough, or the time is over. */
async function measureServer(name: string, done: number, until: number, path: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'aa-verdicts-'));
  const display = createDisplay({ ...world.stderr, write: () => undefined });
  const { signal, force, release } = listenForInterruption(world, (text) => world.stderr.write(`${text}\n`));
  try {
    const run = await decide(name, directory);
    const prepared = await prepareRun({
      ...run,
      world,
      runId: newRunId(world.clock.now()),
      display,
      signal,
      force,
    });
    try {
      const context = await contextOf(run, prepared, directory, signal);
      const [server] = run.servers;
      if (server === undefined) throw new Error(`no server ${name}`);
      for (const block of blocksOfTrials(withRounds(prepared.plan, wanted).trials).slice(done)) {
        if (world.clock.monotonicSeconds() >= until) return;
        const round = await measureRound(context, server, block);
        await appendFile(path, `${JSON.stringify(round)}\n`);
        await rm(context.rawDirectory, { recursive: true, force: true });
      }
    } finally {
      await prepared.session.close();
    }
  } finally {
    release();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Comparisons of consecutive rounds of one server. */
function comparisonsOf(rounds: readonly Round[], metric: ComparedMetric) {
  const pairs = rounds.flatMap(({ figures }) => {
    const [value, baseline] = [figures?.twin[metric], figures?.first[metric]];
    return value == null || baseline == null ? [] : [{ value, baseline }];
  });
  return Array.from({ length: Math.floor(pairs.length / roundsEach) }, (_, index) =>
    comparePairs(pairs.slice(index * roundsEach, (index + 1) * roundsEach)),
  ).flatMap((delta) => delta ?? []);
}

function print(rounds: readonly Round[]): void {
  const byServer = [...Map.groupBy(rounds, ({ server }) => server).values()];
  const seconds = median(rounds.map((round) => round.seconds));
  const failures = rounds.filter(({ failure }) => failure !== null);
  process.stdout.write(
    `${values.mode}: ${rounds.length} rounds of ${names.join(' and ')}, ${seconds.toFixed(2)} s each; ${failures.length} failed${failures.length > 0 ? ` (${failures[0]?.failure})` : ''}\n`,
  );
  for (const metric of COMPARED_METRICS) {
    const deltas = byServer.flatMap((own) => comparisonsOf(own, metric));
    const told = deltas.filter(({ low, high }) => (low ?? -1) > 0 || (high ?? 1) < 0);
    const widths = deltas.flatMap(({ low, high }) => (low === null || high === null ? [] : (high - low) / 2));
    if (widths.length === 0) continue;
    process.stdout.write(
      `${metric.padEnd(19)} ${told.length} of ${deltas.length} comparisons of ${roundsEach} rounds told equal servers apart ` +
        `(${((100 * told.length) / deltas.length).toFixed(1)} %), median interval ±${(100 * median(widths)).toFixed(1)} %\n`,
    );
  }
}

if (!values.report) {
  const until = world.clock.monotonicSeconds() + Number(values.seconds);
  // In turns, so that a series that is stopped has as many comparisons of each server.
  const share = (until - world.clock.monotonicSeconds()) / names.length;
  for (const [index, name] of names.entries()) {
    const done = (await roundsSoFar(file)).filter(({ server }) => server === name).length;
    const rest = until - share * (names.length - 1 - index);
    if (done < wanted) await measureServer(name, done, rest, file);
  }
}
const rounds = await roundsSoFar(file);
if (rounds.length > 0) print(rounds);
