/** A file that is being read: the zone file itself, or one that it includes. */
import type { Entries } from './entries.ts';

export interface Frame {
  readonly file: string;
  readonly entries: Entries;
  /** Completes relative names. */
  origin: Uint8Array;
  /** That of the last record. */
  owner: Uint8Array | undefined;
}

/** Reports text that is accepted but is probably a mistake, at a token of the current entry. */
export type Warn = (frame: Frame, token: number, problem: string, fix: string) => void;
