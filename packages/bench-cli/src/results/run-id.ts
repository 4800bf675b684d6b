/** Names of runs: the UTC time at which they began, so that they sort by age, and a random suffix. */

/** What `newRunId` makes, for example `20261121-015012-3f9a`. */
export const RUN_ID_PATTERN = /^\d{8}-\d{6}-[0-9a-f]{4}$/;

/**
 * A name for a run that begins at `now`. `random` is in [0, 1), as `Math.random` gives it; its 65,536 values
 * keep apart runs that begin within the same second.
 */
export function newRunId(now: Date, random: () => number = Math.random): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const suffix = Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${suffix}`;
}
