/** Random records and questions in which names meet: few labels, zones within zones, wildcards, aliases, cuts. */
import { mixCase, pick, type Random } from '@dinodns-bench/test-support';
import type { ModelRecord } from './model.ts';

const LABELS = ['a', 'b', 'www', '*', '_tcp', 'ns'];
const ENDS = ['example', 'sub.example', 'a.example', 'org', 'b.sub.example'];

export const ASKED_TYPES = [
  'A',
  'AAAA',
  'TXT',
  'MX',
  'NS',
  'CNAME',
  'SRV',
  'SOA',
  'DS',
  'CAA',
  'ANY',
  'PTR',
  'DNAME',
];

export function randomName(random: Random): string {
  const labels = Array.from({ length: random(4) }, () => pick(random, LABELS));
  return [...labels, pick(random, ENDS)].join('.');
}

/** A host's name, in a record's data. */
function target(random: Random): string {
  return random(12) === 0 ? mixCase(random, randomName(random)) : randomName(random);
}

function soa(random: Random) {
  const times = { serial: random(9), refresh: 7200, retry: 3600, expire: 86_400, minimum: random(600) };
  return { mname: target(random), rname: `hostmaster.${pick(random, ENDS)}`, ...times };
}

function dataOf(type: string, random: Random): unknown {
  switch (type) {
    case 'A':
      return `192.0.2.${random(5)}`;
    case 'AAAA':
      return `2001:db8::${random(5) + 1}`;
    case 'TXT':
      return [Buffer.from('text '.repeat(random(12) + 1))];
    case 'MX':
      return { preference: random(3), exchange: target(random) };
    case 'SRV':
      return { priority: random(3), weight: 0, port: 53, target: target(random) };
    case 'CAA':
      return { flags: 0, tag: 'issue', value: `ca${random(3)}.example` };
    case 'DS':
      return { keyTag: random(9), algorithm: 8, digestType: 2, digest: Buffer.alloc(32, random(4)) };
    case 'SOA':
      return soa(random);
    default:
      return target(random);
  }
}

const HELD_TYPES = ['A', 'A', 'A', 'AAAA', 'TXT', 'MX', 'SRV', 'CAA', 'NS', 'CNAME', 'DS', 'PTR', 'DNAME'];

export function randomRecord(random: Random): ModelRecord {
  const name = randomName(random);
  const isApex = random(6) === 0;
  const type = isApex ? 'SOA' : pick(random, HELD_TYPES);
  return { name: isApex ? pick(random, ENDS) : name, type, ttl: random(1000), data: dataOf(type, random) };
}
