/** This project's load generator, in its own process; its CPU is counted like dnsperf's. */

import { fileURLToPath } from 'node:url';
import { cannonVersion, type DriverEvent } from '@dinodns-bench/load';
import { BenchError } from '../../errors.ts';
import type { RunningProcess } from '../../process.ts';
import type { World } from '../../world.ts';
import type { DetailedInterval, Loader, LoadRequest } from '../loader.ts';
import { createLocalLoader, type LocalLoaderOptions } from '../local-loader.ts';
import { intervalOf, parseEvent } from './events.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { askedIn, loaderCountsOf, loadResultOf } from './result.ts';

const TITLE = 'the built-in loader';

/** A loader that runs this project's load generator on this machine. */
export function createBuiltin(options: LocalLoaderOptions): Loader {
  const { world } = options;
  return createLocalLoader(options, {
    ...{ kind: 'builtin', version: cannonVersion(), title: TITLE, executable: world.processes.nodePath },
    // The Node.js that runs bench, which bench cannot install.
    fix: 'Run `bench doctor`.',
    async prepare(request) {
      const program = [world.processes.nodePath, ...GENERATOR_NODE_FLAGS, driverScript()];
      const heard: Heard = { intervals: [], timeline: [], end: null };
      return {
        command: [...program, ...driverArguments(await passedOptions(world, request), request)],
        onStdoutLine: (line) => hear(parseEvent(line), heard, request),
        outcomeOf(running) {
          const result = resultOf(heard, running, request);
          return {
            result: loadResultOf(result, heard.intervals),
            wasTheLimit: result.generator.wasTheLimit,
            counts: loaderCountsOf(result),
            timeline: heard.timeline,
            ...askedIn(result),
          };
        },
      };
    },
  });
}

/** In the workspace the sources run; from npm, what was built from them. */
function driverScript(): string {
  return fileURLToPath(import.meta.resolve('@dinodns-bench/load/driver'));
}

/** Options that do not fit in an argument lie beside the raw output. */
async function passedOptions({ fs }: World, request: LoadRequest): Promise<string> {
  const { json, fits } = driverOptions(request);
  if (fits) return json;
  const path = `${request.outputFile}.options.json`;
  await fs.writeFile(path, json);
  return `@${path}`;
}

/** What its process has reported so far. */
interface Heard {
  readonly intervals: { atSeconds: number; qps: number }[];
  readonly timeline: DetailedInterval[];
  end: Extract<DriverEvent, { readonly event: 'result' | 'error' }> | null;
}

function hear(event: DriverEvent | null, heard: Heard, request: LoadRequest): void {
  switch (event?.event) {
    case 'started':
      request.onStarted();
      break;
    case 'interval':
      heard.intervals.push({ atSeconds: event.toSeconds, qps: event.qps });
      heard.timeline.push(intervalOf(event));
      request.onProgress(event.qps);
      break;
    case 'result':
    case 'error':
      heard.end = event;
  }
}

function resultOf({ end }: Heard, running: RunningProcess, request: LoadRequest) {
  if (end?.event === 'result') return end.result;
  const where = `against port ${request.endpoint.port}`;
  if (end?.event === 'error')
    throw new BenchError('E_LOADER_FAILED', `${TITLE} failed ${where}: ${end.message}`, {
      evidence: [end.code],
      fix: `${end.fix}.`,
    });
  const how = running.exit?.signal ?? `exit status ${running.exit?.code}`;
  throw new BenchError('E_LOADER_FAILED', `${TITLE} failed (${how}) ${where}`, {
    evidence: running.lastLines.slice(-10),
    fix: 'Its message is above; the whole output is in the run folder under raw/.',
  });
}
