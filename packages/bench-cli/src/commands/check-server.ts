/** `bench servers --check SERVER`: starts a server once and checks its answers, and measures nothing. */
import { join } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { DEFAULTS } from '../config/settings.ts';
import { prepareServers } from '../engine/servers.ts';
import { decideRun } from '../experiments/compare/decide.ts';
import { listenForInterruption } from '../interruption.ts';
import { type Tried, tryServers } from '../measure/try-servers.ts';
import { printJson } from '../output.ts';
import { createDisplay } from '../progress/display.ts';
import { formatCount } from '../report/numbers.ts';
import { MODES } from '../results/record.ts';
import { newRunId } from '../results/run-id.ts';
import { loadServers } from '../servers/load.ts';
import { type Server, transportsOf } from '../servers/server.ts';
import type { World } from '../world.ts';

/** The flags of a run that has a case for each transport of the server, in a mode that it has. */
function flagsFor(entry: string, server: Server) {
  const transports = server.existing === undefined ? transportsOf(server) : (['udp'] as const);
  const mode = MODES.find((candidate) =>
    transports.every((transport) => (server.unsupported?.(candidate, transport, 4) ?? null) === null),
  );
  // A server of generated names knows no others.
  const workload =
    server.answersNamesOf === 'generated-cluster' ? { workload: ['internal', 'external'] } : {};
  return { servers: [entry], transport: transports, mode: mode ?? 'single', loader: 'builtin', ...workload };
}

async function tryOnce(world: World, entry: string, directory: string): Promise<Tried[]> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    const [server] = await loadServers(world, [entry], DEFAULTS);
    if (server === undefined) return [];
    const flags = flagsFor(entry, server);
    const run = await decideRun(world, { flags, file: undefined }, 'servers --check');
    const { signal, force } = interruption;
    const runId = newRunId(world.clock.now());
    const { context, plan, session } = await prepareServers({
      ...{ world, decided: run, runId, directory, display, signal, force },
    });
    try {
      return await tryServers(context, plan.cases, run.servers);
    } finally {
      await session.close();
    }
  } finally {
    interruption.release();
    display.clear();
  }
}

/** Resolves with the exit status; rejects with what is wrong with the server. */
export async function checkServerCommand(
  world: World,
  entry: string,
  options: { readonly json: boolean },
): Promise<number> {
  const directory = await world.fs.mkdtemp(join(world.env.TMPDIR ?? '/tmp', 'dinodns-bench-check-'));
  try {
    const tried = await tryOnce(world, entry, directory);
    const rows = tried.map(({ server: { name, title }, transport, queries }) => ({
      name,
      title,
      transport,
      queries,
    }));
    if (options.json) printJson(world, rows);
    else {
      for (const { name, title, transport, queries } of rows) {
        const called = title === name ? name : `${name} (${title})`;
        world.stdout.write(
          `${called} answers all ${formatCount(queries)} queries correctly over ${transport}\n`,
        );
      }
    }
    return EXIT_STATUS.success;
  } finally {
    await world.fs.rm(directory, { recursive: true, force: true });
  }
}
