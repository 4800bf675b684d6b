/**
 * Cleans up after a test run whose runner was killed: `node watchdog.ts RUN FOLDER` waits until its standard
 * input closes, which happens when the runner ends for any reason. A line before that means that the runner has
 * cleaned up itself.
 */
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { removeLeftovers } from './leftovers.ts';
import { markedProcesses, RUN_VARIABLE, runNamespacePrefix } from './marks.ts';

const REMOVAL_SECONDS = 30;

const [, , runId = '', folder = ''] = process.argv;
// Signals that end the runner's group or session must not end its watchdog.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

if ((await text(process.stdin)) === '') {
  const mark = `${RUN_VARIABLE}=${runId}`;
  const owners = new Set(markedProcesses(mark).map(({ pid, startTicks }) => `${pid}-${startTicks}`));
  const by = {
    mark,
    except: new Set([process.pid]),
    namespacePrefix: runNamespacePrefix(runId),
    folder,
    owners,
  };
  await removeLeftovers(by, REMOVAL_SECONDS);
  rmSync(folder, { recursive: true, force: true });
}
