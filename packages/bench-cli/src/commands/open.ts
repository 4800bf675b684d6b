/** `bench open`: writes the page of a run and hands it to whatever opens pages here. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import { renderOptions, withRawOutput, writeFiles } from '../engine/write-reports.ts';
import { internalError } from '../errors.ts';
import { openRun, recordsFor } from '../experiments/registry.ts';
import { findExecutable } from '../machine/find-executable.ts';
import { HTML_NAME } from '../report/index.ts';
import { createStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { runPath } from './history-options.ts';
import { deltaOf } from './report.ts';

export interface OpenOptions {
  readonly run: string;
  readonly delta?: string;
  readonly out: string;
}

/** The program that opens a page, or why there is none. */
type Opener = { readonly command: readonly string[] } | { readonly none: string };

/** An opener that fails exits within this time; one that becomes the browser keeps running. */
const PATIENCE_SECONDS = 5;

async function findOpener(world: World, path: string): Promise<Opener> {
  const { env, machine } = world;
  const url = pathToFileURL(path).href;
  if (machine.platform === 'darwin') return { command: ['open', path] };
  const wanted = (env.BROWSER ?? '').split(':')[0] ?? '';
  const browser = wanted === '' ? null : await findExecutable(world, wanted);
  if (browser !== null) return { command: [browser, url] };
  const windows = await findExecutable(world, 'wslview');
  if (windows !== null) return { command: [windows, path] };
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return { none: 'this session has no display' };
  const opener = await findExecutable(world, 'xdg-open');
  return opener === null
    ? { none: 'xdg-open is missing; install the package xdg-utils' }
    : { command: [opener, path] };
}

/** Starts the opener and waits a moment for it to fail. */
async function open(world: World, command: readonly string[]): Promise<string | null> {
  try {
    const running = await world.processes.start(command);
    const exit = await Promise.race([running.exited, world.clock.sleep(PATIENCE_SECONDS)]);
    if (exit === undefined || exit.code === 0) return null;
    const said = running.lastLines.at(-1);
    return `${command[0]} ended with ${exit.signal ?? `status ${exit.code}`}${said === undefined ? '' : `: ${said}`}`;
  } catch (error) {
    return `${command[0]} cannot be started: ${messageOf(error)}`;
  }
}

/** The page's path always goes to stdout. Without an opener that is all, and stderr says why. */
export async function openCommand(world: World, options: OpenOptions): Promise<number> {
  const store = createStore(world, options.out);
  const found = await store.find(await runPath(world, options.out, options.run));
  const { directory, experiment } = found;
  if (!(await recordsFor(found)).formats.some(({ name }) => name === 'html'))
    throw internalError(`${experiment} has no page`);
  const opened = await openRun(found);
  const look = renderOptions(world, deltaOf(options.delta) ?? opened.delta);
  const withRaw = await withRawOutput(world, look, directory, opened.trials);
  await writeFiles(store, directory, opened.files(['html'], withRaw));
  const path = join(directory, HTML_NAME);
  world.stdout.write(`${path}\n`);
  const opener = await findOpener(world, path);
  const problem = 'none' in opener ? opener.none : await open(world, opener.command);
  if (problem !== null) world.stderr.write(`Not opened: ${problem}. Open the file above in a browser.\n`);
  return 0;
}
