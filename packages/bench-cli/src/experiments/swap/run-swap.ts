/** What the commands have in common around a run: flags, Ctrl-C, the cluster, the folder of the run. */
import { configure, type RunConfiguration } from '../../config/configuration.ts';
import { type Interruption, type InterruptionWords, listenForInterruption } from '../../interruption.ts';
import { createDisplay } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { openSwapCluster, type SwapCluster } from './cluster.ts';
import { explainFailure } from './explain.ts';
import { sharedFlags } from './flags.ts';
import type { InPlaceSettings } from './in-place/in-place.ts';
import type { RunFolder } from './recorder.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A command as it was given, with the cluster that it is about. */
export interface SwapCall<S = InPlaceSettings> {
  readonly world: World;
  readonly values: Values;
  readonly argv: readonly string[];
  /** Those of the command, from its flags. */
  readonly settings: S;
  readonly configuration: RunConfiguration;
  readonly cluster: SwapCluster;
  readonly runId: string;
  readonly interruption: Interruption;
  /** What is done just now, for people. */
  readonly say: (text: string) => void;
}

/** Of runs that only have to remove what they have made. */
const WORDS: InterruptionWords = {
  first: 'removing what this run has made; once more not to wait for it',
  again: 'not waiting; Kubernetes goes on removing it',
};

/** Connects, and lets `act` do the rest; failures of changes are explained. */
export async function runSwap<S>(
  {
    world,
    values,
    argv,
    settings,
    words = WORDS,
  }: Pick<SwapCall<S>, 'world' | 'values' | 'argv' | 'settings'> & { readonly words?: InterruptionWords },
  act: (call: SwapCall<S>) => Promise<number>,
): Promise<number> {
  const flags = { ...sharedFlags(values), target: 'kubernetes', loader: 'builtin' };
  const configuration = configure({ env: world.env, flags });
  const display = createDisplay(world.stderr);
  const say = (text: string) => display.line(text);
  const interruption = listenForInterruption(world, say, words);
  try {
    const { context } = configuration.kubernetes;
    const cluster = await openSwapCluster(world, context, interruption.force);
    const runId = newRunId(world.clock.now());
    return await act({ world, values, argv, settings, configuration, cluster, runId, interruption, say });
  } catch (error) {
    throw explainFailure(error);
  } finally {
    interruption.release();
    display.clear();
  }
}

/** Makes the folder of the run, and keeps other benches out of it meanwhile. A folder without a record is removed. */
export async function withFolder<T>(
  { world, configuration, runId }: Pick<SwapCall, 'world' | 'configuration' | 'runId'>,
  act: (folder: RunFolder) => Promise<T>,
): Promise<T> {
  const store = createStore(world, configuration.out);
  const directory = store.directoryOf(runId);
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let isKept = false;
  const onSaved = () => {
    isKept = true;
  };
  try {
    return await act({ world, store, directory, onSaved });
  } finally {
    await unlock();
    if (!isKept) await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** Lines below titles, with an empty line between them; nothing of a title without lines. */
export function paragraphs(...all: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  return all
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
}
