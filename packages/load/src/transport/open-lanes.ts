/** Opens the connections of all lanes, a limited number at a time. */
import { connectError, laneFailureOf } from './failures.ts';
import type { LaneFailure, TransportRequest } from './transport.ts';

/** What `openLanes` needs of a lane. */
export interface OpenableLane {
  open(): Promise<void>;
  /** Counts a failure, reports it to the engine, and retries after a pause. */
  fail(failure: LaneFailure, error: Error | null): void;
  close(): void;
}

/** A listening socket queues at least 128 connections; in a burst of thousands, SYNs would be dropped. */
const AT_ONCE = 64;

/**
 * Resolves when each lane is up, or has failed once and keeps retrying by itself.
 * @throws LoadError if every lane failed, for the reason of the first.
 */
export async function openLanes(
  kind: 'tcp' | 'tls' | 'https',
  lanes: readonly OpenableLane[],
  request: TransportRequest,
): Promise<void> {
  const failed = new Map<OpenableLane, Error>();
  let opened = 0;
  const queue = lanes.values();
  const openSome = async () => {
    for (const lane of queue) {
      await lane.open().then(
        () => {
          opened += 1;
        },
        (error: Error) => failed.set(lane, error),
      );
      // If none of the first came up, more attempts would only take time.
      if (opened === 0 && failed.size >= AT_ONCE) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, lanes.length) }, openSome));
  const [first] = failed.values();
  if (first !== undefined && opened === 0) {
    for (const lane of lanes) lane.close();
    throw connectError(kind, first, request);
  }
  for (const [lane, error] of failed) lane.fail(laneFailureOf(error), error);
}
