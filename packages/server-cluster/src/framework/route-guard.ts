/**
 * Which names have handlers of their own, asked of a name in wire form. It may say yes where the router will
 * say no (the query then takes the longer way), never the other way round.
 */
import { HEADER_OCTETS } from '../wire/codes.ts';

const UPPER_A = 65;
const UPPER_Z = 90;
const CASE_BIT = 32;

function lower(octet: number): number {
  return octet >= UPPER_A && octet <= UPPER_Z ? octet | CASE_BIT : octet;
}

/** FNV-1a, 32 bits: from the right, label by label, so that every suffix of a name costs one pass. */
const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

function hashLabel(hash: number, bytes: Uint8Array, at: number): number {
  const length = bytes[at] ?? 0;
  let mixed = Math.imul(hash ^ length, FNV_PRIME);
  for (let index = at + 1; index <= at + length; index++) {
    mixed = Math.imul(mixed ^ lower(bytes[index] ?? 0), FNV_PRIME);
  }
  return mixed;
}

function hashText(labels: readonly string[]): number {
  let hash = FNV_OFFSET;
  for (const label of labels.toReversed()) {
    const octets = Buffer.from(label, 'latin1');
    hash = hashLabel(hash, Buffer.concat([Buffer.from([octets.length & 0xff]), octets]), 0);
  }
  return hash;
}

const MAX_LABELS = 128;

export class RouteGuard {
  readonly #exact = new Set<number>();
  readonly #below = new Set<number>();
  #everything = false;
  readonly #labels = new Uint16Array(MAX_LABELS);

  get isEmpty(): boolean {
    return !this.#everything && this.#exact.size === 0 && this.#below.size === 0;
  }

  /** A pattern of the framework: `*` stands for anything, what follows a `/` is ignored. */
  add(domain: string): void {
    const name = (domain.split('/')[0] ?? '').toLowerCase();
    // A character that the router may read otherwise than as itself: whatever it matches, it shall see.
    if (/[^a-z0-9_.*-]/.test(name)) {
      this.#everything = true;
      return;
    }
    const star = name.lastIndexOf('*');
    if (star === -1) {
      this.#exact.add(hashText(name.split('.')));
      return;
    }
    // What is surely at the end of every name that matches: the whole labels behind the last star.
    const rest = name.slice(star + 1);
    const dot = rest.indexOf('.');
    const suffix = dot === -1 ? '' : rest.slice(dot + 1);
    if (suffix === '') this.#everything = true;
    else this.#below.add(hashText(suffix.split('.')));
  }

  /** Whether the name of the first question of the message may have handlers; true if it is no plain name. */
  mayMatch(bytes: Uint8Array, offset: number, length: number): boolean {
    if (this.#everything) return true;
    const end = offset + length;
    let count = 0;
    let at = offset + HEADER_OCTETS;
    for (;;) {
      if (at >= end) return true;
      const size = bytes[at] ?? 0;
      if (size === 0) break;
      if (size > 63 || at + size >= end || count === MAX_LABELS) return true;
      if (!isPlain(bytes, at + 1, size)) return true;
      this.#labels[count++] = at;
      at += size + 1;
    }
    let hash = FNV_OFFSET;
    for (let index = count - 1; index >= 0; index--) {
      hash = hashLabel(hash, bytes, this.#labels[index] ?? 0);
      // In front of the suffix stands a dot, and so at least one label.
      if (index > 0 && this.#below.has(hash)) return true;
    }
    return this.#exact.has(hash);
  }
}

/** Letters, digits, `-`, `_` and `*`: octets whose text is themselves, so that labels are what patterns see. */
function isPlain(bytes: Uint8Array, at: number, size: number): boolean {
  for (let index = at; index < at + size; index++) {
    const octet = lower(bytes[index] ?? 0);
    const isLetter = octet >= 97 && octet <= 122;
    const isDigit = octet >= 48 && octet <= 57;
    if (!isLetter && !isDigit && octet !== 45 && octet !== 95 && octet !== 42) return false;
  }
  return true;
}
