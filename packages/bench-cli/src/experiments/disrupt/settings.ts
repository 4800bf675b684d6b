/** The settings of `bench disrupt`: its own, and those of `bench run` that it takes as well. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import { choice, list, number, seconds } from '../../config/value-schemas.ts';
import { pick } from '../../engine/settings.ts';
import { FAULT_NAMES } from './faults.ts';

const rateMessage = 'must be a number of queries per second from 10 to 100000';
const outageMessage = 'must be a duration of at most 60 seconds';
const delayMessage = 'must be a duration from 0.001 to 10 seconds';

export const DISRUPT_SETTINGS = {
  fault: {
    flag: '--fault <list>',
    description: FAULT_NAMES.join(', '),
    schema: list(choice(FAULT_NAMES), `must be a list of ${FAULT_NAMES.join(', ')}`),
    default: ['restart'],
    distinct: true,
  },
  rate: {
    flag: '--rate <n>',
    description: 'queries per second, sent on schedule whether or not answers come',
    schema: number(z.number(rateMessage).min(10, rateMessage).max(100_000, rateMessage)),
    default: 500,
  },
  outage: {
    flag: '--outage <time>',
    description: 'how long the upstream fails, or a restarted server is down (0: started at once)',
    schema: seconds(0, outageMessage).refine((value) => value <= 60, outageMessage),
    default: 3,
  },
  delay: {
    flag: '--delay <time>',
    description: 'how long a slow upstream takes to answer',
    schema: seconds(0.001, delayMessage).refine((value) => value <= 10, delayMessage),
    default: 1.5,
  },
  ...pick(
    [
      ...(['servers', 'tier', 'zones', 'duration', 'trials', 'warmup', 'timeout'] as const),
      ...(['clients', 'threads', 'ip', 'cpu', 'corednsVersion', 'provision'] as const),
    ],
    {
      servers: { default: ['coredns', 'dinodns'] },
      duration: { default: 12, description: 'how long each load lasts; the fault begins after 2 seconds' },
      trials: { default: 5, description: 'trials of each fault and of its control, each with a new server' },
      warmup: { default: 1 },
      timeout: { default: 10, description: 'a query unanswered for this long is lost, not late' },
    },
  ),
} as const satisfies Record<string, Setting>;
export type DisruptSettings = SettingsOf<typeof DISRUPT_SETTINGS>;
