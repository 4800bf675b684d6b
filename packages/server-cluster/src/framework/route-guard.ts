/**
 * Tells from a name in wire form whether handlers may be registered for it. It may say yes where the router says
 * no (the query then takes the slower path), never the reverse.
 */
import { LOWER_CASE, type QueryReader } from '@dinodns-bench/wire';
import { hashLabel } from '../table/hash.ts';

/** The hash of the root: names are hashed label by label from the right, so that one pass yields the hash of every suffix. */
const ROOT = 1;

function hashText(labels: readonly string[]): number {
  let hash = ROOT;
  for (const label of labels.toReversed()) {
    const text = Buffer.from(label, 'latin1');
    hash = hashLabel(hash, Buffer.concat([Buffer.from([text.length & 0xff]), text]), 0);
  }
  return hash;
}

export class RouteGuard {
  readonly #exact = new Set<number>();
  readonly #below = new Set<number>();
  #everything = false;

  get isEmpty(): boolean {
    return !this.#everything && this.#exact.size === 0 && this.#below.size === 0;
  }

  /** Adds a pattern of the framework: `*` matches anything, and everything from a `/` on is ignored. */
  add(domain: string): void {
    const name = (domain.split('/')[0] ?? '').toLowerCase();
    // The router may treat this character specially, so it must see every query.
    if (/[^a-z0-9_.*-]/.test(name)) {
      this.#everything = true;
      return;
    }
    const star = name.lastIndexOf('*');
    if (star === -1) {
      // The root has no labels.
      this.#exact.add(hashText(name === '.' ? [] : name.split('.')));
      return;
    }
    // Every matching name ends with these labels: the whole labels after the last star.
    const rest = name.slice(star + 1);
    const dot = rest.indexOf('.');
    const suffix = dot === -1 ? '' : rest.slice(dot + 1);
    if (suffix === '') this.#everything = true;
    else this.#below.add(hashText(suffix.split('.')));
  }

  /**
   * Whether the name that `query` has parsed may have handlers; true if there is no name, or it has unusual
   * characters.
   */
  mayMatch(bytes: Uint8Array, offset: number, query: QueryReader): boolean {
    if (this.#everything || !query.hasQuestion) return true;
    let hash = ROOT;
    for (let index = query.labelCount - 1; index >= 0; index--) {
      const at = offset + (query.labels[index] ?? 0);
      if (!isPlain(bytes, at + 1, bytes[at] ?? 0)) return true;
      hash = hashLabel(hash, bytes, at);
      // A dot comes before the suffix, and so at least one label.
      if (index > 0 && this.#below.has(hash)) return true;
    }
    return this.#exact.has(hash);
  }
}

/** Only letters, digits, `-`, `_` and `*`: their text equals their bytes, so that patterns see the same labels. */
function isPlain(bytes: Uint8Array, at: number, size: number): boolean {
  for (let index = at; index < at + size; index++) {
    const byte = LOWER_CASE[bytes[index] ?? 0] ?? 0;
    const isLetter = byte >= 97 && byte <= 122;
    const isDigit = byte >= 48 && byte <= 57;
    if (!isLetter && !isDigit && byte !== 45 && byte !== 95 && byte !== 42) return false;
  }
  return true;
}
