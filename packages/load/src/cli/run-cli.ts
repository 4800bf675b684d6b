/** The command line: what to run, how errors are shown, and the exit status. */

import { writeFile } from 'node:fs/promises';
import {
  EXIT_STATUS,
  messageOf,
  type ProgramWorld,
  parseCommands,
  reportError,
  say,
  terminalOf,
  writeOut,
} from '@dinodns-bench/program';
import { loadError } from '../errors.ts';
import { mergeEncoded } from '../histogram/encoding.ts';
import { renderHgrm } from '../histogram/hgrm.ts';
import { CSV_HEADER, renderCsvRow, renderJson, renderNdjson } from '../report/machine.ts';
import { renderText } from '../report/text.ts';
import type { CannonResult } from '../result/result.ts';
import { cannon, packageVersion } from '../run.ts';
import { crossedThresholds, parseThreshold } from '../thresholds/thresholds.ts';
import { runFindMax } from './find-max.ts';
import { buildCommand, type Flags, HELP_AFTER_FLAGS } from './flags.ts';
import { startLive } from './live.ts';
import { inputOf, nameFlags } from './options.ts';
import { judge } from './verdict.ts';

/** Runs the command line and resolves with the exit status. Never rejects. */
export async function runCli(args: readonly string[], world: ProgramWorld): Promise<number> {
  const command = buildCommand();
  const set = { version: packageVersion(), helpAfter: HELP_AFTER_FLAGS, commands: [] };
  try {
    if (!(await parseCommands(args, world, command, set))) return EXIT_STATUS.success;
    const [server = '', ...names] = command.args;
    return await runLoad(server, names, command.opts<Flags>(), world);
  } catch (error) {
    return reportError(nameFlags(error), 'dnscannon', world);
  }
}

async function runLoad(
  server: string,
  names: readonly string[],
  flags: Flags,
  world: ProgramWorld,
): Promise<number> {
  const input = inputOf(server, names, flags);
  const thresholds = (flags.failIf ?? []).map(parseThreshold);
  // A path that cannot be written must not cost a run.
  if (flags.hgrm !== undefined) await writeTo(flags.hgrm, '');
  if (flags.findMax === true) return runFindMax(input, flags, world);

  const run = cannon(input, { signal: world.signal });
  const live = startLive(world, flags.progress && flags.ndjson !== true && flags.csv !== true);
  if (flags.csv === true) await writeOut(world, CSV_HEADER);
  try {
    for await (const interval of run) {
      live.show(interval);
      if (flags.ndjson === true) await writeOut(world, renderNdjson(interval));
      if (flags.csv === true) await writeOut(world, renderCsvRow(interval));
    }
  } catch (error) {
    run.stop();
    throw error;
  } finally {
    live.end();
  }
  const result = await run.result;
  await writeOut(world, render(result, flags, world));
  if (flags.hgrm !== undefined) await writeTo(flags.hgrm, hgrmOf(result));
  const { status, message } = judge(result, crossedThresholds(thresholds, result), world.signal);
  if (message !== null) say(world, message);
  return status;
}

function render(result: CannonResult, flags: Flags, { stdout, env }: ProgramWorld): string {
  if (flags.json === true) return renderJson(result);
  if (flags.ndjson === true) return renderNdjson(result);
  if (flags.csv === true) return renderCsvRow(result);
  return renderText(result, { colours: terminalOf(stdout, env).colours });
}

function hgrmOf({ latencySeconds }: CannonResult): string {
  return renderHgrm(mergeEncoded(latencySeconds === null ? [] : [latencySeconds.histogram]));
}

async function writeTo(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((error: unknown) => {
    const problem = `cannot write ${path}: ${messageOf(error)}`;
    throw loadError('E_WRITE_FAILED', problem, 'choose a writable file', error);
  });
}
