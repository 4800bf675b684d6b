/** `bench lookup`: prepare → trials, interleaved → results → reports. */
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore } from '../../results/store.ts';
import { formatDuration } from '../../text.ts';
import type { World } from '../../world.ts';
import { finishLookup, type Shown } from './finish.ts';
import { checkUrl, type MeasureRequest, measureTrial } from './measure.ts';
import { newLookupRecord } from './new-record.ts';
import { type LookupOptions, portOf } from './options.ts';
import { prepareLookup, synLinearTimeouts } from './prepare.ts';
import type { LookupRecord } from './record.ts';
import { paceOf, subjectsOf } from './subjects.ts';
import { type Running, takeTrials } from './take-trials.ts';
import { subjectTitle } from './text/readable.ts';

/** What a run in a folder of its own comes to. */
export interface FinishedRun {
  readonly record: LookupRecord;
  /** The exit status. */
  readonly status: number;
}

/** Gives `measure` a folder, writes the reports, and prints them to stdout; without a trial the folder is removed. */
export async function inRunFolder(
  world: World,
  { out, show }: { readonly out: string; readonly show: Shown },
  measure: (running: Running) => Promise<LookupRecord>,
): Promise<FinishedRun> {
  const store = createStore(world, out);
  const id = newRunId(world.clock.now());
  const directory = store.directoryOf(id);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const rawDirectory = await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let hasTrials = false;
  const onTrial = () => {
    hasTrials = true;
  };
  try {
    const record = await measure({
      ...{ world, store, id, directory, rawDirectory, display, interruption, onTrial },
    });
    display.clear();
    return { record, status: await finishLookup(world, store, directory, record, show) };
  } finally {
    interruption.release();
    display.clear();
    await unlock();
    if (!hasTrials) await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function runLookup(
  world: World,
  options: LookupOptions,
  argv: readonly string[],
): Promise<number> {
  const { out, show } = options;
  const { status } = await inRunFolder(world, { out, show }, (running) => measureAll(running, options, argv));
  return status;
}

async function measureAll(
  running: Running,
  options: LookupOptions,
  argv: readonly string[],
): Promise<LookupRecord> {
  const { world, display, rawDirectory, interruption } = running;
  const { signal, force } = interruption;
  const environment = await describeEnvironment(world);
  const prepared = await prepareLookup({
    world,
    options,
    display,
    logDirectory: rawDirectory,
    signal,
    force,
  });
  try {
    const timeouts = await synLinearTimeouts(world);
    const subjects = subjectsOf(options, prepared.resolvers, timeouts);
    const paceSeconds = paceOf(options, subjects);
    const { policies, programDelaySeconds, search, ndots, target } = options;
    const record = newLookupRecord({
      id: running.id,
      argv: [...argv],
      startedAt: world.clock.now(),
      environment,
      warnings: [...prepared.warnings],
      target,
      url: options.url.href,
      durationSeconds: options.durationSeconds,
      rounds: options.rounds,
      paceSeconds,
      simulation: policies.length === 0 ? null : { programDelaySeconds, synLinearTimeouts: timeouts },
      resolvConf: target === 'local' ? { search: [...search], ndots } : null,
      tools: prepared.tools,
      serverRecords: prepared.serverRecords,
      subjects,
    });
    announce(display, record);
    const { place, tcpdump } = prepared;
    const { href: url } = options.url;
    const fixed = {
      world,
      place,
      tcpdump,
      rawDirectory,
      signal,
      url,
      paceSeconds,
      port: portOf(options.url),
    };
    await demandSamples(fixed, options, subjects);
    return await takeTrials(running, record, (subject, head) => measureTrial({ ...fixed, subject, head }));
  } finally {
    await prepared.place.close();
  }
}

/** @throws BenchError `E_NO_ANSWER`, within seconds, if a client cannot reach the page */
async function demandSamples(
  fixed: Omit<MeasureRequest, 'subject' | 'head'>,
  { target }: LookupOptions,
  subjects: LookupRecord['subjects'],
): Promise<void> {
  const { place, url, port } = fixed;
  for (const subject of subjects) {
    if (subjects.find(({ client }) => client === subject.client) !== subject) continue;
    const head = { key: `check-${subject.client}`, subject: subject.key, round: 0, order: 0, seconds: 0 };
    const problem = await checkUrl({ ...fixed, subject, head });
    if (problem === null) continue;
    const tried = place.addresses.length === 0 ? '' : `, tried ${place.addresses.join(', ')} port ${port}`;
    throw new BenchError('E_NO_ANSWER', `${url} does not answer ${subject.client}${tried}: ${problem}`, {
      fix:
        target === 'local'
          ? 'This is the site that bench has started: its log, and those of the resolvers, say why.'
          : 'Give the URL of a page that this machine reaches; --local brings its own (as root).',
    });
  }
}

/** What is going to be measured, on stderr. */
export function announce(display: Display, record: LookupRecord): void {
  const { subjects, rounds, warnings, durationSeconds, url } = record;
  const time = formatDuration(durationSeconds * subjects.length);
  const simulated = record.simulation === null ? '' : 'SIMULATION: ';
  display.line(
    `${simulated}${url}: ${subjects.map(({ key }) => subjectTitle(key)).join(', ')}; ${rounds} trials each, ${time} in all`,
  );
  for (const warning of warnings) display.line(`Note: ${warning}`);
}
