/** Files that belong to the program itself, such as its manifest and the style of its pages. */
import { readFileSync } from 'node:fs';

/** The text of such a file. */
export function ownText(file: URL): string {
  return readFileSync(file, 'utf8');
}
