/**
 * Runs the command: the first line on standard output is the server's readiness as JSON, everything else is
 * on standard error. The only place that ends the process.
 */
import cluster from 'node:cluster';
import { parseCommandLine } from './command-line.ts';
import { createServer, type Server } from './create-server.ts';
import { EXIT_STATUS, ServerError } from './errors.ts';
import { onLauncherDeath } from './launchers.ts';

function report(error: unknown): number {
  if (error instanceof ServerError) {
    process.stderr.write(`Error: ${error.message} [${error.code}]\n${error.fix}\n`);
    return error.exitStatus;
  }
  const details = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`Error: this is a bug. Please report it with what follows.\n${details}\n`);
  return EXIT_STATUS.internal;
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

/** `args` without the names of the runtime and of the program. Returns once the server is ready. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const server = createServer(await parseCommandLine(args));
    if (cluster.isPrimary) stopOnSignals(server);
    server.failed.catch((error: unknown) => process.exit(report(error)));
    const ready = await server.start();
    if (cluster.isPrimary) process.stdout.write(`${JSON.stringify(ready)}\n`);
  } catch (error) {
    // Whoever stops a server that is not ready yet need not be told that it is not.
    if (!isStopping) process.exit(report(error));
  }
}
