/** The DNS policy modes of Calico Enterprise, and what each must show at a known delay. */

import { z } from 'zod';
import { count, seconds } from '../../../results/record-units.ts';

export const POLICY_MODES = ['NoDelay', 'DelayDeniedPacket', 'DelayDNSResponse', 'Inline'] as const;
export type PolicyMode = (typeof POLICY_MODES)[number];

/** What a mode adds to each sample. */
export const predictionSchema = z.object({
  lookupSeconds: seconds,
  connectSeconds: seconds,
  /** Repeated SYN packets of each connection. */
  duplicateSyn: count,
});
export type Prediction = z.output<typeof predictionSchema>;

/** Linux from 6.5 on repeats a SYN this many times after a second each (tcp_syn_linear_timeouts), then doubles the wait. */
export const SYN_LINEAR_TIMEOUTS = 4;

/** The initial retransmission timeout (RFC 6298 §2.1). */
const SYN_TIMEOUT_SECONDS = 1;

/** Seconds after the first SYN at which the kernel repeats it: 1, 2, 3, 4, 5, 7, … or, before 6.5, 1, 3, 7, … */
export function synRepeats(count: number, linearTimeouts: number): number[] {
  const times: number[] = [];
  let at = 0;
  let wait = SYN_TIMEOUT_SECONDS;
  for (let number = 1; number <= count; number += 1) {
    at += wait;
    times.push(at);
    if (number > linearTimeouts) wait *= 2;
  }
  return times;
}

/** curl gives up after 8 seconds. */
const MAX_REPEATS = 8;

/**
 * What a policy agent that needs `delaySeconds` to let an address through must show. NoDelay drops packets until then, so
 * that the kernel's next attempt comes through; DelayDeniedPacket holds them; DelayDNSResponse holds the answer; Inline does its
 * work on the way.
 */
export function predict(
  mode: PolicyMode,
  delaySeconds: number,
  linearTimeouts = SYN_LINEAR_TIMEOUTS,
): Prediction {
  const repeats = synRepeats(MAX_REPEATS, linearTimeouts);
  const before = repeats.filter((at) => at < delaySeconds);
  switch (mode) {
    case 'Inline':
      return { lookupSeconds: 0, connectSeconds: 0, duplicateSyn: 0 };
    case 'DelayDNSResponse':
      return { lookupSeconds: delaySeconds, connectSeconds: 0, duplicateSyn: 0 };
    case 'DelayDeniedPacket':
      return { lookupSeconds: 0, connectSeconds: delaySeconds, duplicateSyn: before.length };
    case 'NoDelay':
      return delaySeconds === 0
        ? { lookupSeconds: 0, connectSeconds: 0, duplicateSyn: 0 }
        : {
            lookupSeconds: 0,
            connectSeconds: repeats[before.length] ?? Number.POSITIVE_INFINITY,
            duplicateSyn: before.length + 1,
          };
  }
}
