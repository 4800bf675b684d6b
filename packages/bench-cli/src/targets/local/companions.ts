/** Programs that an instance needs beside it: started before it, outside its CPU limit, and stopped after it. */
import { join } from 'node:path';
import { BenchError } from '../../errors.ts';
import { endProcess, heardWithin, type RunningProcess } from '../../process.ts';
import type { Companion } from '../../servers/server.ts';
import type { World } from '../../world.ts';
import { parseReadyLine } from '../ready-line.ts';

/** Node.js starts in less than a second, even if the machine is busy. */
const READY_SECONDS = 20;
const STOP_SECONDS = 3;

export interface RunningCompanions {
  /** By the names of the companions. */
  readonly ports: Readonly<Record<string, number>>;
  readonly pids: readonly number[];
  /** SIGTERM, then SIGKILL. Safe to call twice. */
  stop(): Promise<void>;
}

export const NO_COMPANIONS: RunningCompanions = {
  ports: {},
  pids: [],
  stop: async () => undefined,
};

function didNotStart({ name }: Companion, process: RunningProcess, logFile: string): BenchError {
  return new BenchError('E_SERVER_START', `the ${name} program beside the server did not start`, {
    evidence: process.lastLines.filter((line) => line.trim() !== ''),
    fix: `Its last lines are above, all of them in ${logFile}.`,
  });
}

/** Starts one and resolves with its port. */
async function startCompanion(
  world: World,
  companion: Companion,
  logFile: string,
  own: (process: RunningProcess) => void,
): Promise<number> {
  const { promise: firstLine, resolve: onFirstLine } = Promise.withResolvers<string>();
  const command = [world.processes.nodePath, companion.script, ...companion.arguments];
  const process = await world.processes.start(command, {
    onStdoutLine: onFirstLine,
    stdoutFile: logFile,
    stderrFile: logFile,
  });
  own(process);
  const line = await heardWithin(world.clock, process, firstLine, READY_SECONDS);
  const port = parseReadyLine(line ?? '')?.port;
  if (port === undefined) throw didNotStart(companion, process, logFile);
  return port;
}

/** Starts all; if one fails, those before it are stopped. @throws BenchError `E_SERVER_START` */
export async function startCompanions(
  world: World,
  companions: readonly Companion[],
  logDirectory: string,
): Promise<RunningCompanions> {
  const running: RunningProcess[] = [];
  const ports: Record<string, number> = {};
  const stop = async () => {
    await Promise.all(
      running.splice(0).map((process) => endProcess(world.clock, process, 'SIGTERM', STOP_SECONDS)),
    );
  };
  try {
    await world.fs.mkdir(logDirectory, { recursive: true });
    for (const companion of companions) {
      const logFile = join(logDirectory, `${companion.name}.log`);
      ports[companion.name] = await startCompanion(world, companion, logFile, (process) =>
        running.push(process),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { ports, pids: running.map(({ pid }) => pid), stop };
}
