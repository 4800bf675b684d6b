/** docs/conformance.md, whose figures the tests compare with what they count. */
import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/conformance.md', import.meta.url);

/** The text of the page, with every line break and run of blanks as one blank. */
export function conformancePage(): string {
  return readFileSync(PAGE, 'utf8').replace(/\s+/g, ' ');
}

/** A count as the page writes it: `12,673`. */
export function count(value: number): string {
  return value.toLocaleString('en-GB');
}
