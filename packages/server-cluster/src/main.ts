/**
 * Runs the command: the first line on standard output is the server's readiness as JSON, everything else is
 * on standard error. The only place that ends the process; the
 * workers' processes, which run programs of other people as well, are ended in `cluster/worker.ts`.
 */
import cluster from 'node:cluster';
import { closeSync, openSync } from 'node:fs';
import { EXIT_STATUS, onLauncherDeath, reportError } from '@dinodns-bench/program';
import { parseCommandLine } from './command-line.ts';
import { createServer, type Server } from './create-server.ts';

function report(error: unknown): number {
  return reportError(error, 'dinodns-server', process);
}

/** A worker that hangs would not notice that the primary is gone. */
function killWorkers(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
}

let isStopping = false;

/** First signal: stop in order. Second: end at once, with all workers. */
function stopOnSignals(server: Server): void {
  const onSignal = (status: number) => () => {
    if (isStopping) {
      killWorkers();
      process.exit(status);
    }
    isStopping = true;
    server.stop().then(
      () => process.exit(EXIT_STATUS.success),
      (error: unknown) => process.exit(report(error)),
    );
  };
  const onTerminate = onSignal(EXIT_STATUS.terminated);
  process.on('SIGTERM', onTerminate);
  onLauncherDeath(onTerminate);
  process.on('SIGINT', onSignal(EXIT_STATUS.interrupted));
}

/** The terminal that a program in the foreground belongs to is closed: nobody is there to serve for. */
function hasLostTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

/** SIGHUP loads the zones again, but ends a program whose terminal is gone, as it would any other. */
function reloadOnHangUp(server: Server): void {
  const hadTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGHUP', () => {
    if (hadTerminal && hasLostTerminal()) {
      process.kill(process.pid, 'SIGTERM');
      return;
    }
    server.reload().catch((error: unknown) => {
      process.stderr.write('The zones were not reloaded; the server still serves the previous ones.\n');
      report(error);
    });
  });
}

/** `args` without the names of the runtime and of the program. Returns once the server is ready. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const options = await parseCommandLine(args);
    if (options === null) return;
    const server = createServer(options);
    if (cluster.isPrimary) {
      stopOnSignals(server);
      reloadOnHangUp(server);
    }
    server.failed.catch((error: unknown) => process.exit(report(error)));
    const ready = await server.start();
    if (cluster.isPrimary) process.stdout.write(`${JSON.stringify(ready)}\n`);
  } catch (error) {
    // Whoever stops a server that is not ready yet need not be told that it is not.
    if (!isStopping) process.exit(report(error));
  }
}
