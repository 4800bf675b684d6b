/** Downloads over HTTP, bounded in time and checked. */

import { createHash } from 'node:crypto';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import type { World } from '../world.ts';

/** Without internet access, a connection attempt often hangs; do not wait long for it. */
const ANSWER_SECONDS = 2;
/** The largest archive has 25 MB: 40 kB/s is enough. */
const WHOLE_SECONDS = 600;
/** A transfer that stalls for this long will not continue. */
const STALL_SECONDS = 30;

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Bytes so far, and of all if the server says. */
  readonly onBytes?: (received: number, total: number | null) => void;
}

/** A failed download; the message gives the address and the reason. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  /** In few words, for people. */
  readonly reason: string;
  /** What the server said; null if it said nothing. */
  readonly status: number | null;

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    super(`${url}: ${reason}`, { cause });
    this.reason = reason;
    this.status = cause instanceof RefusedError ? cause.status : null;
  }
}

class RefusedError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP status ${status}`);
    this.status = status;
  }
}

/** What people call these codes. */
const REASONS: Readonly<Record<string, string>> = {
  ENETUNREACH: 'no route',
  EHOSTUNREACH: 'no route',
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'no answer from DNS',
};

function reasonOf(error: unknown): string {
  // fetch says "fetch failed" and keeps the reason in `cause`; several addresses have a cause each, without a message in all.
  if (!(error instanceof Error && error.cause instanceof Error)) return messageOf(error);
  const { cause } = error;
  return REASONS[systemErrorCode(cause) ?? ''] ?? (cause.message || messageOf(error));
}

/** Follows redirects; calls `onChunk` for each part of the body in turn. */
async function receive(
  world: World,
  url: string,
  options: DownloadOptions,
  onChunk: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const limit = new AbortController();
  const began = world.clock.monotonicSeconds();
  let patience = { seconds: ANSWER_SECONDS, what: 'no answer' };
  let lastProgress = began;
  const stopWatching = world.clock.every(0.2, () => {
    const now = world.clock.monotonicSeconds();
    if (now - lastProgress > patience.seconds)
      limit.abort(new Error(`${patience.what} within ${patience.seconds} s`));
    if (now - began > WHOLE_SECONDS) limit.abort(new Error(`not finished within ${WHOLE_SECONDS} s`));
  });
  try {
    const response = await fetch(url, { signal: AbortSignal.any([limit.signal, options.signal]) });
    if (!response.ok) {
      await response.body?.cancel();
      throw new RefusedError(response.status);
    }
    patience = { seconds: STALL_SECONDS, what: 'no more data' };
    const length = Number(response.headers.get('content-length') ?? Number.NaN);
    const total = Number.isInteger(length) ? length : null;
    let received = 0;
    for await (const chunk of response.body ?? []) {
      lastProgress = world.clock.monotonicSeconds();
      received += chunk.length;
      await onChunk(chunk);
      options.onBytes?.(received, total);
    }
    if (total !== null && received !== total) throw new Error(`cut off after ${received} of ${total} bytes`);
  } catch (error) {
    options.signal.throwIfAborted();
    throw new DownloadError(url, error);
  } finally {
    stopWatching();
  }
}

/** A short text. Rejects with a `DownloadError` or the signal's reason. */
export async function downloadText(world: World, url: string, options: DownloadOptions): Promise<string> {
  const chunks: Uint8Array[] = [];
  await receive(world, url, options, async (chunk) => {
    chunks.push(chunk);
  });
  return Buffer.concat(chunks).toString('utf8');
}

/** Writes the body to `path` and resolves with its size and SHA-256. Rejects as `downloadText`. */
export async function downloadFile(
  world: World,
  url: string,
  path: string,
  options: DownloadOptions,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const file = await world.fs.open(path, 'w');
  let bytes = 0;
  try {
    await receive(world, url, options, async (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      await file.writeFile(chunk);
    });
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}
