/**
 * Runs the command. The first line on standard output is the readiness line in JSON; everything else goes to
 * standard error. Only this module and `cli.ts` end the process, except in workers, which may run other people's programs:
 * `cluster/serve-as-worker.ts` ends those.
 */
import cluster from 'node:cluster';
import { closeSync, openSync } from 'node:fs';
import { EXIT_STATUS, onLauncherDeath, reportError } from '@dinodns-bench/program';
import { parseCommandLine } from './command-line.ts';
import type { ServerOptions } from './options.ts';
import type { Server } from './process/server.ts';
import type { Profile } from './profiles/profile.ts';

/** Nobody may read it any more, or its disk may be full: the server goes on. */
const stderr = {
  get isTTY() {
    return process.stderr.isTTY;
  },
  write(text: string) {
    try {
      process.stderr.write(text);
    } catch {
      // As an error that the stream emits.
    }
  },
};

function report(error: unknown): number {
  return reportError(error, 'dinodns-server', { stderr, env: process.env });
}

/** A hung worker would not notice that the primary is gone. */
function killWorkers(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
}

let isStopping = false;

/**
 * The first signal stops the server gracefully. The second ends it and all workers at once. Returns what stops it for another reason, which
 * is no signal: what ends a launcher or a terminal often signals the server too.
 */
function stopOnSignals(server: Server): () => void {
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    server.stop().then(
      () => process.exit(EXIT_STATUS.success),
      (error: unknown) => process.exit(report(error)),
    );
  };
  let isSignalled = false;
  const onSignal = (status: number) => () => {
    if (isSignalled) {
      killWorkers();
      process.exit(status);
    }
    isSignalled = true;
    stop();
  };
  process.on('SIGTERM', onSignal(EXIT_STATUS.terminated));
  process.on('SIGINT', onSignal(EXIT_STATUS.interrupted));
  onLauncherDeath(stop);
  return stop;
}

/** Whether the controlling terminal is gone, so that nobody is there to serve. */
function hasLostTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

/**
 * SIGHUP reloads the zones. If the terminal is gone, it ends the program, as it would any other. However many signals come during a reload,
 * one more follows: it reads what is there when it begins.
 */
function reloadOnHangUp(server: Server, stop: () => void): void {
  let isReloading = false;
  let isWanted = false;
  const reload = async () => {
    isWanted = true;
    if (isReloading) return;
    isReloading = true;
    while (isWanted) {
      isWanted = false;
      await server.reload().catch((error: unknown) => {
        stderr.write('The zones were not reloaded; the server still serves the previous ones.\n');
        report(error);
      });
    }
    isReloading = false;
  };
  const hadTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGHUP', () => {
    if (hadTerminal && hasLostTerminal()) {
      stop();
      return;
    }
    void reload();
  });
}

async function profileOf({ profile }: ServerOptions): Promise<Profile> {
  if (profile === 'stock') return (await import('./profiles/stock.ts')).stockProfile;
  return (await import('./profiles/dinodns.ts')).dinodnsProfile;
}

/** `args` excludes the names of the runtime and the program. Resolves once the server is ready. */
export async function main(args: readonly string[]): Promise<void> {
  process.stderr.on('error', () => undefined);
  try {
    const options = await parseCommandLine(args);
    if (options === null) return;
    // Half of all modules, the framework among them: help and wrong flags do without, and each profile without the other.
    const { serverOf } = await import('./process/of-profile.ts');
    const server = serverOf(options, await profileOf(options));
    if (cluster.isPrimary) {
      reloadOnHangUp(server, stopOnSignals(server));
    }
    server.failed.catch((error: unknown) => process.exit(report(error)));
    const ready = await server.start();
    if (cluster.isPrimary) process.stdout.write(`${JSON.stringify(ready)}\n`);
  } catch (error) {
    // If the user stopped the server early, there is nothing to report.
    if (!isStopping) process.exit(report(error));
  }
}
