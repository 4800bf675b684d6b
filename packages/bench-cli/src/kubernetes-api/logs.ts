/** Logs of containers: followed line by line across broken connections, or read at once. */
import { ApiError, explainApiError, isTransient } from './api-error.ts';
import { pauseAfter } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { linesOf } from './lines.ts';

export interface ContainerReference {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

const pathOfLog = ({ namespace, pod }: ContainerReference) =>
  `/api/v1/namespaces/${namespace}/pods/${pod}/log`;
const actionOf = ({ namespace }: ContainerReference) => `get pods/log in namespace ${namespace}`;

/** How long a kubelet or API server may be unreachable while a log is followed. */
const LOG_AWAY_SECONDS = 90;

/**
 * Calls `onLine` for each line from the beginning, once, until the container has ended (`ended` says so when a
 * stream ends) or the signal is aborted. After a broken connection, the log is read again from its beginning and
 * seen lines are skipped; that is exact as long as the kubelet has not rotated the log (10 MiB by default).
 */
export async function followLog(
  client: KubeClient,
  reference: ContainerReference,
  { onLine, ended, signal }: { onLine: (line: string) => void; ended: () => boolean; signal: AbortSignal },
): Promise<void> {
  let seen = 0;
  let failures = 0;
  let lastContact = client.clock.monotonicSeconds();
  for (;;) {
    const wasEnded = ended();
    try {
      const query = { container: reference.container, follow: 'true' };
      const stream = await client.stream(pathOfLog(reference), query, actionOf(reference), signal);
      lastContact = client.clock.monotonicSeconds();
      let index = 0;
      for await (const line of linesOf(stream)) {
        index += 1;
        if (index <= seen) continue;
        seen = index;
        failures = 0;
        lastContact = client.clock.monotonicSeconds();
        onLine(line);
      }
      // A stream also ends normally when the kubelet stops: only the container's end counts.
      if (wasEnded) return;
    } catch (error) {
      signal.throwIfAborted();
      const waiting = isTransient(error) || isBeforeStart(error) || !(error instanceof ApiError);
      const away = client.clock.monotonicSeconds() - lastContact;
      if (!waiting || away > LOG_AWAY_SECONDS) throw explainApiError(error);
    }
    failures += 1;
    await client.clock.sleep(Math.min(1, pauseAfter(failures)), signal);
  }
}

/** How an API server passes on a kubelet's 404; its own names the pod: `pods "x" not found`. */
const KUBELET_KNOWS_NOTHING = /^the server could not find the requested resource/;

/** The kubelet answers 400 for a container that has not started yet, and 404 for a pod that it has not heard of yet. */
function isBeforeStart(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 400 || (error.status === 404 && KUBELET_KNOWS_NOTHING.test(error.message));
}

/** These lines only explain something; a kubelet that is lost is not worth the minutes for which requests are repeated. */
const LAST_LINES_SECONDS = 10;

/** The last lines of a container's log; empty if they cannot be read, or not within `seconds`. Rejects only for the signal. */
export async function lastLogLines(
  client: KubeClient,
  reference: ContainerReference,
  lines: number,
  signal: AbortSignal,
  seconds = LAST_LINES_SECONDS,
): Promise<string[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  const read = async (previous: boolean) => {
    const query = `container=${reference.container}&tailLines=${lines}${previous ? '&previous=true' : ''}`;
    const text = await client.text(`${pathOfLog(reference)}?${query}`, actionOf(reference), limit);
    return text.split('\n').filter((line) => line.trim() !== '');
  };
  try {
    const current = await read(false);
    return current.length > 0 ? current : await read(true).catch(() => []);
  } catch {
    signal.throwIfAborted();
    return read(true).catch(() => []);
  }
}
