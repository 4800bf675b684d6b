/** Load generators as processes of this machine, each in a group of its own, whose CPU is counted. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { observeGroups } from '../observe/observe.ts';
import { endsWithin, type RunningProcess } from '../process.ts';
import type { ResourceGroup, ResourceGroups } from '../targets/local/resource-group.ts';
import type { World } from '../world.ts';
import { openLocalGate } from './gate/local-gate.ts';
import type { Loader, LoaderProgram, LoadOutcome, LoadRequest } from './loader.ts';

export interface LocalLoaderOptions {
  readonly world: World;
  readonly groups: ResourceGroups;
  /** CPUs for the load generator under `--cpu pin`; null for no preference. */
  readonly cpuSet: readonly number[] | null;
}

/** A load generator that is installed here. */
interface LocalProgram extends LoaderProgram {
  readonly version: string;
  readonly executable: string;
  /** What mends an executable that cannot be started. */
  readonly fix: string;
  command(request: LoadRequest): Promise<readonly string[]>;
}

/**
 * It starts, sends, and then waits for outstanding queries; longer than this is a hang. Ten seconds were too few to start and end it
 * where a dozen starts of `capacity survive` wanted both CPUs.
 */
const GRACE_SECONDS = 60;

export function createLocalLoader(options: LocalLoaderOptions, program: LocalProgram): Loader {
  let runs = 0;
  return {
    kind: program.kind,
    version: program.version,
    openGate: ({ loaders }) => openLocalGate(options.world, loaders),
    async load(request) {
      runs += 1;
      const name = `loader-${runs}`;
      const group = await options.groups.create({ name, cpuAllowance: null, cpuSet: options.cpuSet });
      try {
        return await run(options.world, program, request, group);
      } finally {
        await group.remove();
      }
    },
  };
}

async function run(
  world: World,
  program: LocalProgram,
  request: LoadRequest,
  group: ResourceGroup,
): Promise<LoadOutcome> {
  const { title, executable, fix } = program;
  const command = await program.command(request);
  const lines: string[] = [];
  const onLine = (line: string) => {
    lines.push(line);
    program.hear(line, request);
  };
  const running = await world.processes
    .start(group.wrap(command), {
      onStdoutLine: onLine,
      onStderrLine: onLine,
      stdoutFile: request.outputFile,
      stderrFile: request.outputFile,
    })
    .catch((cause: unknown) => {
      throw new BenchError('E_LOADER_FAILED', `cannot start ${title} (${executable}): ${messageOf(cause)}`, {
        fix,
        cause,
      });
    });
  group.adopt(running.pid);
  const window = await observeGroups(world, [group]);
  await endOrAbort(world, title, running, request);
  // Exact where the group has its own counters; the process is gone by now.
  const observation = await window.end().catch(() => null);
  const { code = null, signal = null } = running.exit ?? {};
  const end = `(${signal ?? `exit status ${code}`}) against port ${request.endpoint.port}`;
  return { ...program.outcomeOf({ lines, exitCode: code, end }), observation, command };
}

/** Waits for its end; stops it when the run is interrupted or when it does not end by itself. */
async function endOrAbort(
  world: World,
  title: string,
  running: RunningProcess,
  { durationSeconds, timeoutSeconds, after, signal }: LoadRequest,
): Promise<void> {
  const limit = durationSeconds + (after?.seconds ?? 0) + timeoutSeconds + GRACE_SECONDS;
  const hasEnded = await endsWithin(world.clock, running, limit, signal);
  if (!hasEnded) {
    running.kill('SIGKILL');
    await running.exited;
  }
  signal.throwIfAborted();
  if (hasEnded) return;
  throw new BenchError('E_LOADER_FAILED', `${title} did not end within ${limit} seconds and was killed`, {
    evidence: running.lastLines.slice(-10),
    fix: 'See its raw output in the run folder; repeat the trial with `bench run --resume`.',
  });
}
