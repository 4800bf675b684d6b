/**
 * WATCH: the changes after a version, as they happen, until the client goes, the time is up or the server closes all
 * watches. With `sendInitialEvents` all present objects come first and then a bookmark that says so (the streaming lists
 * of Kubernetes 1.27 and later, which CoreDNS 1.15 uses).
 */
import type { Encoding } from '../kubernetes/encoding.ts';
import type { KubeObject } from '../kubernetes/object.ts';
import type { Resource } from '../kubernetes/resources.ts';
import type { ChangeEvent } from './event-log.ts';
import { type ChunkedOutput, ClientGone } from './output.ts';
import type { ListOptions } from './request.ts';
import { badRequest, expired, type Failure, statusObject } from './status.ts';
import type { Store } from './store.ts';

/** Of a real API server: a bookmark about every minute. */
const BOOKMARK_MILLISECONDS = 60_000;

/** Without `timeoutSeconds` a real API server ends a watch after 30 to 60 minutes (`--min-request-timeout`). */
const DEFAULT_WATCH_SECONDS = 1800;

export interface Watch {
  readonly store: Store;
  readonly resource: Resource;
  readonly options: ListOptions;
  readonly encoding: Encoding;
  asListed(object: KubeObject): KubeObject;
  /** Called once all objects are with the client, if it began with them. */
  onAllSent(): void;
  /** Aborted when the client has gone, or the server ends all watches. */
  readonly signal: AbortSignal;
}

/** Where the events start: at a version, or with all objects. */
function startOf({ store, options }: Watch): number | 'all' {
  const { resourceVersion, sendInitialEvents } = options;
  if (sendInitialEvents || resourceVersion === '' || resourceVersion === '0') return 'all';
  const version = Number(resourceVersion);
  return version > store.version ? -1 : version;
}

/** Serves the watch until it ends. @throws ClientGone */
export async function serveWatch(watch: Watch, output: ChunkedOutput): Promise<void> {
  const { store, options } = watch;
  const start = startOf(watch);
  if (Number.isNaN(start)) {
    const failure = badRequest(`Invalid value: "${options.resourceVersion}": resourceVersion`);
    await failWatch(watch, output, failure);
    return;
  }
  let version = typeof start === 'number' ? start : store.version;
  if (start === 'all') await sendAll(watch, output);
  const until = performance.now() + 1000 * (options.timeoutSeconds ?? DEFAULT_WATCH_SECONDS);
  await output.flush();
  if (start === 'all') watch.onAllSent();
  while (performance.now() < until) {
    const events = version < 0 ? null : store.log.after(version);
    if (events === null) {
      await failWatch(watch, output, expired(version, store.version));
      return;
    }
    await sendEvents(watch, output, events);
    version = events.at(-1)?.resourceVersion ?? version;
    if (store.log.after(version)?.length !== 0) continue;
    const isChanged = await nextChange(watch, until);
    if (!isChanged && options.allowBookmarks && performance.now() < until) {
      await sendBookmark(watch, output, store.version, false);
    }
  }
}

async function sendAll(watch: Watch, output: ChunkedOutput): Promise<void> {
  const { store, resource, options, encoding, asListed } = watch;
  const { version } = store;
  for (const { object } of store.snapshot(resource).entries()) {
    if (options.matches(object)) await output.add(encoding.watchEvent('ADDED', asListed(object)));
  }
  if (options.sendInitialEvents && options.allowBookmarks) await sendBookmark(watch, output, version, true);
}

async function sendEvents(
  watch: Watch,
  output: ChunkedOutput,
  events: readonly ChangeEvent[],
): Promise<void> {
  const { resource, options, encoding, asListed } = watch;
  for (const { resource: name, type, object } of events) {
    if (name === resource.name && options.matches(object)) {
      await output.add(encoding.watchEvent(type, asListed(object)));
    }
  }
  await output.flush();
}

/** True if something changed, false if a bookmark is due or the time is up. @throws ClientGone */
async function nextChange({ store, signal }: Watch, until: number): Promise<boolean> {
  const pause = Math.min(BOOKMARK_MILLISECONDS, Math.max(0, until - performance.now()));
  const isChange = await store.log.next(signal, Math.ceil(pause));
  if (signal.aborted) throw new ClientGone();
  return isChange;
}

async function sendBookmark(
  { resource: { apiVersion, kind }, encoding, asListed }: Watch,
  output: ChunkedOutput,
  version: number,
  isInitialEnd: boolean,
): Promise<void> {
  const annotations = isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { name: '', resourceVersion: String(version), ...annotations };
  await output.add(encoding.watchEvent('BOOKMARK', asListed({ apiVersion, kind, metadata })));
  await output.flush();
}

/** As the real server: an event of the type ERROR, and the end. */
export async function failWatch({ encoding }: Watch, output: ChunkedOutput, failure: Failure): Promise<void> {
  await output.add(encoding.watchEvent('ERROR', statusObject(failure)));
  await output.flush();
}
