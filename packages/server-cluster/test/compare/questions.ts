/** Questions to compare servers by: everything that the zones hold and lack, in every wrapping. */
import { pick, type Random } from '@dinodns-bench/test-support';
import { anyQuery, mutated } from '../table/mutate.ts';
import { namesToAsk, OUTSIDE, zoneSet } from './zone.ts';

const TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'MX',
  'TXT',
  'NS',
  'SOA',
  'SRV',
  'CAA',
  'PTR',
  'DS',
  'DNAME',
  'ANY',
  'UNKNOWN_65',
];

export interface Asked {
  readonly name: string;
  readonly type: string;
  readonly message: Buffer;
}

/** One message in ten is damaged. */
export function randomQuestion(random: Random): Asked {
  const zones = [...zoneSet.zones()].map(({ name }) => name);
  const relative = pick(random, namesToAsk());
  const zone = pick(random, zones);
  const inside = relative === '' ? zone : `${relative}.${zone}`;
  const name = random(15) === 0 ? pick(random, OUTSIDE) : inside;
  const type = pick(random, TYPES);
  const message = random(10) === 0 ? mutated(random, name, type) : anyQuery(random, name, type);
  return { name, type, message };
}
