/** Runs a campaign in a thread and watches it: for time, for memory, and for what it finds. */
import { Worker } from 'node:worker_threads';

export interface Progress {
  readonly executions: number;
  /** Inputs that each reached something new. */
  readonly corpus: number;
  /** Branches reached. */
  readonly sites: number;
}

export type WorkerMessage =
  | ({ readonly kind: 'progress' } & Progress)
  | { readonly kind: 'kept'; readonly input: Uint8Array }
  | { readonly kind: 'finding'; readonly input: Uint8Array; readonly error: string };

export interface CampaignSettings {
  /** The target's. */
  readonly name: string;
  readonly seed: number;
  readonly corpus: readonly Uint8Array[];
  /** Executions, or infinity. */
  readonly runs: number;
  /** Duration, or infinity. */
  readonly seconds: number;
  /** URL of the module that exports the target. Default: that of its name in this workspace. */
  readonly module?: string;
  /** Time after which an input that is still being run never ends. Default: 10 s. */
  readonly hangSeconds?: number;
}

export interface WorkerData extends CampaignSettings {
  readonly module: string;
  /** The input being run. */
  readonly current: SharedArrayBuffer;
  /** Number of executions begun, and the length of the current input. */
  readonly state: SharedArrayBuffer;
}

export interface Findings {
  onProgress?(progress: Progress): void;
  onKept?(input: Uint8Array): void;
  onFinding(input: Uint8Array, error: string): void;
}

/** Not `targets.ts`: the code under test of all targets would be instrumented for each. */
const moduleOf = (name: string) => new URL(`../targets/${name}.ts`, import.meta.url).href;
/** Longer than any input takes on a busy machine: most take less than a millisecond. */
const HANG_SECONDS = 10;
/** JavaScript heap: what the readers keep of an input of a few kilobytes is far below. */
const HEAP_MEGABYTES = 512;
/** More than any target's `maxBytes`. */
const MAX_INPUT_BYTES = 64 * 1024;

/** Resolves when the campaign has ended; a hang and a lack of memory are findings that end it. */
export function runCampaign(
  settings: CampaignSettings,
  findings: Findings,
  signal?: AbortSignal,
): Promise<void> {
  const current = new SharedArrayBuffer(MAX_INPUT_BYTES);
  const state = new SharedArrayBuffer(8);
  const progress = new Int32Array(state);
  const currentInput = () => new Uint8Array(current).slice(0, Atomics.load(progress, 1));
  const data: WorkerData = { module: moduleOf(settings.name), ...settings, current, state };
  const { hangSeconds = HANG_SECONDS } = settings;
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: data,
    // Of stripTypeScriptTypes, which is what Node.js itself uses for these files.
    execArgv: [...process.execArgv, '--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  const stop = () => void worker.terminate();
  signal?.addEventListener('abort', stop);
  let before = 0;
  const watch = setInterval(() => {
    const begun = Atomics.load(progress, 0);
    // Before the first execution, modules are loaded.
    if (begun !== 0 && begun === before) {
      findings.onFinding(currentInput(), `no end within ${hangSeconds} s`);
      stop();
    }
    before = begun;
  }, hangSeconds * 1000);
  worker.on('message', (message: WorkerMessage) => {
    if (message.kind === 'progress') findings.onProgress?.(message);
    else if (message.kind === 'kept') findings.onKept?.(message.input);
    else findings.onFinding(message.input, message.error);
  });
  return new Promise<void>((resolve, reject) => {
    worker.on('error', (error) => {
      if (!('code' in error) || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return reject(error);
      findings.onFinding(currentInput(), `more than ${HEAP_MEGABYTES} MB of memory`);
    });
    worker.on('exit', () => resolve());
  }).finally(() => {
    clearInterval(watch);
    signal?.removeEventListener('abort', stop);
  });
}
