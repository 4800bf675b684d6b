/**
 * Ends what a run of the tests has started when the runner was killed: `node watchdog.ts RUN FOLDER` waits until its
 * standard input closes, which is what happens when the runner ends, however it ends. A line before that says that
 * the runner has looked after everything itself.
 */
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { removeLeftovers } from './leftovers.ts';
import { markedProcesses, RUN_VARIABLE } from './marks.ts';
import { runNamespacePrefix } from './namespaces.ts';

const REMOVAL_SECONDS = 30;

const [, , runId = '', folder = ''] = process.argv;
// The signals that end the runner's group or session are not meant for its watchdog.
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
