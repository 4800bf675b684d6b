/** Frees memory at points where much of it has just become garbage. Changes no result. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'major' | 'minor' }) => void;

/** V8's own function, which it shows only on request. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function' ? (options) => collect(options) : () => undefined;
}

let collect: Collect | null = null;

/** `minor`: young objects, in milliseconds; `major`: all of them, in about a millisecond for each megabyte in use. */
export function collectGarbage(type: 'major' | 'minor'): void {
  collect ??= collector();
  collect({ type });
}
