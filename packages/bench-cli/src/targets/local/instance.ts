/** One server process on this machine: its files, its start, its end. */

import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { type Certificates, certificateFilesIn } from '../../certificates/certificates.ts';
import type { DnsQuery } from '../../dns/client.ts';
import type { Endpoint, Trust } from '../../dns/endpoint.ts';
import { BenchError, LateError } from '../../errors.ts';
import { findExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { type Exit, endsWithin, once, type RunningProcess } from '../../process.ts';
import type { InstanceRecord } from '../../results/record.ts';
import {
  type ConfigurationFile,
  type InstancePlan,
  readinessQueriesOf,
  type StopSignal,
} from '../../servers/server.ts';
import type { World } from '../../world.ts';
import type { DeployRequest } from '../target.ts';
import { NO_COMPANIONS, startCompanions } from './companions.ts';
import { saysTaken } from './free-port.ts';
import { isReadyLine, type Ready, waitUntilReady } from './readiness.ts';
import type { GroupRequest, ResourceGroup, ResourceGroups } from './resource-group.ts';
import { withBeside } from './wrapping.ts';

/** What is shown of a server's log in an error. */
const LOG_LINES_SHOWN = 15;

/** How long a server may take to end after SIGTERM. */
const STOP_SECONDS = 3;

/** For reading what a killed process had written last. */
const OUTPUT_SECONDS = 1;

/** Debian and Ubuntu confine named, unbound and others by the path of their program. */
const CONFINED =
  'If AppArmor confines the program (`sudo aa-status` lists it), it cannot read a temporary directory: put a copy of it into /usr/local/bin, which no profile names.';

/** Longer configuration files are shortened in the record, as its schema says. */
const RECORDED_CHARACTERS = 64 * 1024;

/** How the instances of an encrypted transport are verified. */
export interface LocalEncryption {
  readonly certificates: Certificates;
  readonly trust: Trust;
}

export interface InstanceSettings {
  readonly world: World;
  readonly groups: ResourceGroups;
  readonly request: DeployRequest;
  readonly endpoint: Endpoint;
  /** Written for the server if the transport is encrypted; otherwise null. */
  readonly certificates: Certificates | null;
  /** The directory of signed zone files, if the run has them; otherwise null. */
  readonly signedZones: string | null;
  /** Made by `startInstance`, deleted by `remove`. */
  readonly directory: string;
  readonly group: GroupRequest;
  readonly allowance: number;
  readonly logFile: string;
  /** Aborted when servers should be killed at once. */
  readonly force: AbortSignal | undefined;
  /** Names that exist; see `Readiness`. */
  readonly readinessQueries: readonly DnsQuery[];
}

export interface Instance {
  readonly record: InstanceRecord;
  readonly endpoint: Endpoint;
  readonly files: Readonly<Record<string, string>>;
  readonly group: ResourceGroup;
  /** The one that runs now. */
  readonly process: RunningProcess;
  /** Ends the process, and starts another once `down` resolves; resolves when it answers. */
  restart(down: () => Promise<unknown>): Promise<void>;
  /** Where its companions listen, by their names. */
  readonly companionPorts: Readonly<Record<string, number>>;
  readonly companionPids: readonly number[];
  /** SIGTERM, then SIGKILL if needed, then deletes group and directory. Safe to call twice. */
  remove(): Promise<void>;
}

/** `exit status 1` or `signal SIGSEGV`. */
export function describeExit(exit: Exit | undefined): string {
  if (exit === undefined) return 'still running';
  return exit.signal === null ? `exit status ${exit.code}` : `signal ${exit.signal}`;
}

/** The end of a server's log, without blank lines. */
export function logTail(process: RunningProcess): string[] {
  return process.lastLines.filter((line) => line.trim() !== '').slice(-LOG_LINES_SHOWN);
}

/** The end of a log file, without blank lines; nothing if it is not there. */
async function lastLinesOf(world: World, path: string): Promise<string[]> {
  const text = (await readIfThere(world, path)) ?? '';
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-LOG_LINES_SHOWN);
}

/** Passes a file's chunks on, and calls `keep` at the end with the text that the record keeps of it. */
async function* recording(chunks: Iterable<string>, keep: (text: string) => void): AsyncGenerator<string> {
  const hash = createHash('sha256');
  let kept = '';
  let characters = 0;
  for (const chunk of chunks) {
    hash.update(chunk);
    characters += chunk.length;
    if (kept.length < RECORDED_CHARACTERS) kept += chunk.slice(0, RECORDED_CHARACTERS - kept.length);
    yield chunk;
  }
  const rest = characters - kept.length;
  keep(rest === 0 ? kept : `${kept}\n[${rest} more characters; SHA-256 of all: ${hash.digest('hex')}]\n`);
}

/** Writes the files of a plan and returns them as the record keeps them. */
export async function writeConfiguration(
  world: World,
  directory: string,
  files: readonly ConfigurationFile[],
): Promise<Record<string, string>> {
  const recorded: Record<string, string> = {};
  for (const { path, chunks } of files) {
    if (isAbsolute(path) || normalize(path).startsWith('..')) {
      throw new Error(`configuration file outside its directory: ${path}`);
    }
    const target = join(directory, path);
    try {
      await world.fs.mkdir(dirname(target), { recursive: true });
      await world.fs.writeFile(
        target,
        recording(chunks, (text) => {
          recorded[path] = text;
        }),
      );
    } catch (cause) {
      const full = systemErrorCode(cause) === 'ENOSPC';
      throw new BenchError(
        full ? 'E_DISK_FULL' : 'E_WRITE_FAILED',
        `cannot write ${target}: ${messageOf(cause)}`,
        {
          fix: full
            ? 'Free some space there, or set TMPDIR to a directory with more.'
            : 'Set TMPDIR to a writable directory.',
          cause,
        },
      );
    }
  }
  return recorded;
}

/** Writes the certificate and its key, which are no configuration: the record does not get them. */
async function writeCertificates(
  { fs }: World,
  directory: string,
  { certificate, key }: Certificates,
): Promise<void> {
  const { certificateFile, keyFile } = certificateFilesIn(directory);
  await fs.writeFile(certificateFile, certificate);
  await fs.writeFile(keyFile, key, { mode: 0o600 });
}

function startError(
  settings: InstanceSettings,
  command: readonly string[],
  problem: string,
  evidence: readonly string[],
  Kind = BenchError,
): BenchError {
  const { request, endpoint, logFile } = settings;
  if (saysTaken(evidence)) {
    return new BenchError(
      'E_PORT_TAKEN',
      `${request.server.name} cannot listen on ${endpoint.address}:${endpoint.port}: the port is in use`,
      {
        fix: `\`ss -lntup 'sport = :${endpoint.port}'\` shows the program that uses it; stop that program or choose another port.`,
        evidence,
      },
    );
  }
  const isForbidden = evidence.some((line) => /permission denied|EACCES/i.test(line));
  return new Kind(
    'E_SERVER_START',
    `${request.server.name} did not start on ${endpoint.address}:${endpoint.port}: ${problem}`,
    {
      fix: `Its last log lines are above${request.isTrial === false ? '' : `, all of them in ${logFile}`}. It was called as: ${command.join(' ')}${isForbidden ? ` ${CONFINED}` : ''}`,
      evidence,
    },
  );
}

async function stop(
  settings: InstanceSettings,
  process: RunningProcess,
  signal: StopSignal = 'SIGTERM',
): Promise<void> {
  process.kill(signal);
  const { world, force } = settings;
  if (!(await endsWithin(world.clock, process, STOP_SECONDS, force))) process.kill('SIGKILL');
}

/** One command, because a group may be able to run only one. */
async function withWhatRunsBeside(world: World, { command, beside = [] }: InstancePlan) {
  return withBeside(beside.length === 0 ? null : await findExecutable(world, 'setpriv'), beside, command);
}

/** Starts the plan's command in the group and waits until it answers. What it leaves on failure, `remove` deletes. */
async function start(
  settings: InstanceSettings,
  plan: InstancePlan,
  group: ResourceGroup,
  own: (process: RunningProcess) => void,
): Promise<{ process: RunningProcess; ready: Ready }> {
  const { world, request, endpoint, directory, logFile } = settings;
  const { promise: readyLine, resolve: onReadyLine } = Promise.withResolvers<string>();
  const onLine = (stream: 'stdout' | 'stderr') => (line: string) => {
    if (isReadyLine(plan.readiness, stream, line)) onReadyLine(line);
  };
  let process: RunningProcess;
  try {
    const command = await withWhatRunsBeside(world, plan);
    process = await world.processes.start(group.wrap(request.within?.(command) ?? command), {
      cwd: plan.cwd ?? directory,
      env: plan.env ?? {},
      onStdoutLine: onLine('stdout'),
      onStderrLine: onLine('stderr'),
      stdoutFile: logFile,
      stderrFile: logFile,
    });
  } catch (cause) {
    throw startError(settings, plan.command, messageOf(cause), []);
  }
  own(process);
  group.adopt(process.pid);
  const outcome = await waitUntilReady(world, {
    readiness: plan.readiness,
    endpoint,
    transport: request.transport,
    zones: request.zoneSet.size,
    cpus: settings.allowance,
    queries: readinessQueriesOf(plan, settings.readinessQueries),
    process,
    readyLine,
    signal: request.signal,
  });
  if ('problem' in outcome) {
    // The output of a process that has ended is read to its end before it is shown.
    if (process.exit !== undefined) await process.exited;
    const early = plan.logFile === undefined ? [] : await lastLinesOf(world, join(directory, plan.logFile));
    const evidence = [...early, ...logTail(process)];
    const Kind = outcome.isLate ? LateError : BenchError;
    throw startError(settings, plan.command, outcome.problem, evidence, Kind);
  }
  return { process, ready: outcome };
}

/**
 * Deploys one instance. Rejects with `E_SERVER_START`, `E_PORT_TAKEN`, a write error or the signal's
 * reason, and leaves nothing behind.
 */
export async function startInstance(settings: InstanceSettings): Promise<Instance> {
  const { world, groups, request, endpoint, directory, allowance, certificates, signedZones, logFile } =
    settings;
  let process: RunningProcess | undefined;
  let group: ResourceGroup | undefined;
  const own = (running: RunningProcess) => {
    process = running;
  };
  let stopSignal: StopSignal | undefined;
  let isRemoved = false;
  let companions = NO_COMPANIONS;
  const remove = once(async () => {
    isRemoved = true;
    if (process !== undefined) await stop(settings, process, stopSignal);
    await group?.remove();
    // Bounded: a process that escaped from its group could hold the output open for ever.
    if (process !== undefined) await endsWithin(world.clock, process, OUTPUT_SECONDS);
    await companions.stop();
    await world.fs.rm(directory, { recursive: true, force: true });
  });
  try {
    const needed = request.server.companions?.(endpoint.address) ?? [];
    if (needed.length > 0) companions = await startCompanions(world, needed, `${logFile}.companions`);
    const plan = request.server.plan({
      zoneSet: request.zoneSet,
      address: endpoint.address,
      port: endpoint.port,
      mode: request.mode,
      transport: request.transport,
      cpus: allowance,
      ...(request.workers === 'node' ? { workerCpus: world.machine.cpus.length } : {}),
      directory,
      program: request.program,
      ...(signedZones === null ? {} : { zoneFiles: signedZones }),
      companionPorts: companions.ports,
      ...(certificates === null ? {} : { certificate: certificateFilesIn(directory) }),
    });
    stopSignal = plan.stopSignal;
    await world.fs.mkdir(directory, { recursive: true });
    if (certificates !== null) await writeCertificates(world, directory, certificates);
    const files = await writeConfiguration(world, directory, plan.files);
    group = await groups.create(settings.group);
    const inGroup = group;
    const started = await start(settings, plan, inGroup, own);
    return {
      record: {
        address: endpoint.address,
        port: endpoint.port,
        pid: started.process.pid,
        workers: started.ready.workers ?? plan.workers,
        command: [...plan.command],
        cpuAllowance: allowance,
      },
      endpoint,
      files,
      group,
      get process() {
        return process ?? started.process;
      },
      restart: async (down) => {
        const before = process ?? started.process;
        await stop(settings, before, stopSignal);
        await before.exited;
        await down();
        if (!isRemoved) await start(settings, plan, inGroup, own);
      },
      companionPorts: companions.ports,
      companionPids: companions.pids,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
