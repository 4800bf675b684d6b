/** A line on the terminal that shows the progress of a long generation. */
import type { CliWorld } from './options.ts';

/** Generations shorter than this show no progress. */
const FIRST_AFTER_SECONDS = 1;
const EVERY_SECONDS = 0.2;

/** Shows how many zones are done, on standard error if that is a terminal; `end` removes the line. */
export function startProgress(
  { stderr }: Pick<CliWorld, 'stderr'>,
  total: number,
  now: () => number = () => performance.now() / 1000,
): { update(done: number): void; end(): void } {
  if (stderr.isTTY !== true) return { update: () => undefined, end: () => undefined };
  const start = now();
  let last = start + FIRST_AFTER_SECONDS - EVERY_SECONDS;
  let shown = false;
  return {
    update: (done) => {
      const time = now();
      if (time - last < EVERY_SECONDS) return;
      last = time;
      shown = true;
      const percent = Math.floor((done / total) * 100);
      const rate = Math.round(done / (time - start));
      const left = Math.ceil((total - done) / Math.max(rate, 1));
      const [doneText, totalText, rateText] = [done, total, rate].map((value) => value.toLocaleString('en'));
      stderr.write(
        `\r\u001b[K${doneText} of ${totalText} zones (${percent} %), ${rateText}/s, ${left} s left`,
      );
    },
    end: () => {
      if (shown) stderr.write('\r\u001b[K');
      shown = false;
    },
  };
}
