import { parseName } from '@dinodns-bench/wire';

/** The octets of a name that is known to be right. */
export const wireOf = (text: string): Uint8Array => {
  const parsed = parseName(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.wire;
};
