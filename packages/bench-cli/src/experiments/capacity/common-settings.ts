/** Settings that several measurements of this experiment have. */
import { z } from 'zod';
import type { Setting } from '../../config/setting.ts';
import { list, text } from '../../config/value-schemas.ts';
import { CONFIGURATION_NAMES } from './configurations.ts';

const CONFIGURATIONS_MESSAGE = `must be a list of ${CONFIGURATION_NAMES.join(', ')}`;

export const SERVERS = {
  flag: '--servers <list>',
  description: 'versions of CoreDNS: coredns-cluster@1.11.3,coredns-cluster@1.15.0',
  schema: list(text, 'must be a list of servers, for example coredns-cluster@1.15.0'),
  default: ['coredns-cluster'],
  distinct: true,
} as const satisfies Setting;

export const CONFIGURATIONS_SETTING = {
  flag: '--configurations <list>',
  description: `configurations of CoreDNS: ${CONFIGURATION_NAMES.join(', ')}`,
  schema: list(z.enum(CONFIGURATION_NAMES, CONFIGURATIONS_MESSAGE), CONFIGURATIONS_MESSAGE),
  distinct: true,
} as const satisfies Setting;
