/** Settings that several measurements of this experiment have. */
import { z } from 'zod';
import type { Setting } from '../../config/setting.ts';
import { list, listOf, number, text } from '../../config/value-schemas.ts';
import { CONFIGURATION_NAMES } from './configurations.ts';

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
  schema: listOf(CONFIGURATION_NAMES),
  distinct: true,
} as const satisfies Setting;

/** As many as the generator of objects makes. */
const MAX_OBJECTS = 1_000_000;
const OBJECTS_MESSAGE = `must be a list of whole numbers from 0 to ${MAX_OBJECTS.toLocaleString('en')}, for example 0,15820,63280`;

/** Numbers of objects. */
export const objectsList = list(
  number(
    z.number(OBJECTS_MESSAGE).int(OBJECTS_MESSAGE).min(0, OBJECTS_MESSAGE).max(MAX_OBJECTS, OBJECTS_MESSAGE),
  ),
  OBJECTS_MESSAGE,
);
