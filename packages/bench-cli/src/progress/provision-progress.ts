/** Provisioning as a person reads it: what is being installed, from where, how far it is, how long it takes. */
import type { ProvisionProgress } from '../provision/provision.ts';
import { formatDuration } from '../text.ts';
import type { Clock } from '../world.ts';
import type { Display } from './display.ts';

/** Without a terminal, an occasional line shows that a long build is alive. */
const PLAIN_INTERVAL_SECONDS = 15;

export function provisionProgress(display: Display, clock: Clock): ProvisionProgress {
  let startedAt = clock.monotonicSeconds();
  let lastPlain = startedAt;
  return {
    step(text) {
      startedAt = clock.monotonicSeconds();
      lastPlain = startedAt;
      display.line(text);
    },
    detail(text) {
      const now = clock.monotonicSeconds();
      const line = `  ${text} (${formatDuration(now - startedAt)})`;
      if (display.isLive) {
        display.live(line);
      } else if (now - lastPlain >= PLAIN_INTERVAL_SECONDS) {
        lastPlain = now;
        display.line(line);
      }
    },
  };
}
