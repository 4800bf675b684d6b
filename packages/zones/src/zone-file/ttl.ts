/** Times in zone files: seconds, or with the units that BIND and others accept, such as `1h30m`. */

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** RFC 2181, section 8: a TTL has 31 bits. */
export const MAX_TTL = 0x7fff_ffff;
const MAX_SECONDS = 0xffff_ffff;

/** Seconds, up to 2^32 − 1; undefined for text that is not a time, `range` for a longer time. */
export function secondsFromText(text: string): number | 'range' | undefined {
  const first = text.charCodeAt(0);
  if (!(first >= 0x30 && first <= 0x39)) return undefined;
  if (!/^(?:\d+[smhdw])*\d*$/i.test(text) || text === '') return undefined;
  let seconds = 0;
  for (const [, digits = '', unit = ''] of text.matchAll(/(\d+)([smhdw]?)/gi)) {
    if (unit === '' && digits.length < text.length && seconds > 0) return undefined;
    seconds += Number(digits) * (UNIT_SECONDS[unit.toLowerCase() || 's'] ?? 1);
  }
  return seconds > MAX_SECONDS ? 'range' : seconds;
}
