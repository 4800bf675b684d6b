/** Capture files on disk, and what a user is told about those that cannot be used. */

import { open } from 'node:fs/promises';
import { type LoadError, loadError, unreadable } from '../errors.ts';
import { CaptureError, createCaptureReader, type OnPacket } from './file-format.ts';
import type { Skipped } from './packet.ts';

const PIECE_BYTES = 1 << 20;

/**
 * Reads a file piece by piece: `onPacket` gets each frame, and adds what it finds in it. `isComplete`: the file has ended,
 * between two packets.
 * @throws LoadError `E_UNREADABLE` or `E_PCAP`.
 */
export async function* readPieces<Item>(
  path: string,
  onPacket: (add: (item: Item) => void) => OnPacket,
): AsyncGenerator<{ readonly items: readonly Item[]; readonly isComplete: boolean }, void, void> {
  let items: Item[] = [];
  const reader = createCaptureReader(onPacket((item) => items.push(item)));
  try {
    const file = await open(path);
    try {
      const buffer = new Uint8Array(PIECE_BYTES);
      for (let bytesRead = 1; bytesRead > 0; ) {
        ({ bytesRead } = await file.read(buffer, 0, PIECE_BYTES));
        if (bytesRead > 0) reader.push(buffer.subarray(0, bytesRead));
        yield { items, isComplete: bytesRead === 0 && reader.end() };
        items = [];
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw captureError(path, error);
  }
}

function captureError(path: string, error: unknown): LoadError {
  if (!(error instanceof CaptureError)) return unreadable(path, error);
  return loadError(
    'E_PCAP',
    `${path} is not a capture that can be replayed: ${error.message}`,
    'give a file written by tcpdump -w, dumpcap or Wireshark',
    error,
  );
}

/** A capture without a query is one clear error: it says what else is in it. */
export function noQueries(path: string, port: number, skipped: ReadonlyMap<Skipped, number>): LoadError {
  const seen = [...skipped].map(([reason, count]) => `${count} × ${reason}`).join(', ');
  return loadError(
    'E_PCAP',
    `${path} contains no DNS query to port ${port}${seen === '' ? '' : ` (packets: ${seen})`}`,
    'give the port that the captured server listened on, or capture with: tcpdump -w FILE port 53',
  );
}
