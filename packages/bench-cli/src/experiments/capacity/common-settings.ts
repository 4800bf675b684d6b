/** Settings that several measurements of this experiment have. */
import type { Setting } from '../../config/setting.ts';
import { list, text, wholeNumber } from '../../config/value-schemas.ts';

export const SERVERS = {
  flag: '--servers <list>',
  description: 'versions of CoreDNS: coredns-cluster@1.11.3,coredns-cluster@1.15.0',
  schema: list(text, 'must be a list of servers, for example coredns-cluster@1.15.0'),
  default: ['coredns-cluster'],
} as const satisfies Setting;

export const TRIALS = {
  flag: '--trials <n>',
  description: 'trials of each case',
  schema: wholeNumber(1, 100),
  default: 5,
} as const satisfies Setting;
