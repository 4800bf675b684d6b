import { parseName } from '@dinodns-bench/wire';

/** The bytes of a name known to be valid. */
export const wireOf = (text: string): Uint8Array => {
  const parsed = parseName(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.wire;
};
