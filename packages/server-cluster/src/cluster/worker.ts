/** The part of a worker that answers to the primary. */
import { READY_MESSAGE, STOP_MESSAGE, toFailure } from './messages.ts';

function send(message: unknown): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

/**
 * Opens the server, tells the primary how that went, and ends the process when the primary, or whoever
 * sends SIGTERM or SIGINT to this very process, says so. If the primary dies, Node.js ends the worker.
 */
export async function serveAsWorker(open: () => Promise<void>, shutdown: () => Promise<void>): Promise<void> {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    void shutdown().then(() => process.exit(0));
  };
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop();
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  try {
    await open();
  } catch (error) {
    await send(toFailure(error));
    process.exit(1);
  }
  await send(READY_MESSAGE);
}
