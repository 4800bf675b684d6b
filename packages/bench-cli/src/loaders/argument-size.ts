/** What fits in an argument of a program. Pure. */

/** Linux takes at most 32 pages in one argument, with the zero byte at its end (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

export function fitsInArgument(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES;
}
