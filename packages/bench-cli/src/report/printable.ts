/**
 * Text for a terminal. A server's banner or a file name may contain escape sequences, which would colour, move and
 * erase the text around them, and characters that change the writing direction.
 */
/** Controls (C0, C1, DEL) and format characters (among them the bidirectional ones), except line feed and tab. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd');
}
