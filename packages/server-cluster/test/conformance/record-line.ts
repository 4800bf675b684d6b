/** Records as the dataset writes them: absolute names, one blank between fields, seven types. */
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import type { ZoneInput } from '../../src/store/zone-input.ts';

type InputRecord = ZoneInput['records'] extends Iterable<infer T> ? T : never;

export function recordOf(line: string): InputRecord {
  const [name = '', ttl, , type = '', ...fields] = line.split(' ');
  return { name, type, ttl: Number(ttl), data: dataOf(type, fields) };
}

function dataOf(type: string, fields: readonly string[]): unknown {
  if (type === 'TXT') return fields.join(' ').slice(1, -1);
  if (type !== 'SOA') return fields[0];
  const [mname, rname, ...numbers] = fields;
  const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
  return { mname, rname, serial, refresh, retry, expire, minimum };
}

export function textOf(record: SupportedAnswer): string {
  return `${absolute(record.name)} ${'ttl' in record ? record.ttl : 0} IN ${record.type} ${dataText(record)}`;
}

function absolute(name: string): string {
  return name === '.' ? name : `${name}.`;
}

function dataText(record: SupportedAnswer): string {
  switch (record.type) {
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      return [absolute(mname), absolute(rname), serial, refresh, retry, expire, minimum].join(' ');
    }
    case 'NS':
    case 'CNAME':
    case 'DNAME':
      return absolute(record.data);
    case 'TXT':
      return `"${Buffer.concat([record.data].flat().map((text) => Buffer.from(text))).toString('latin1')}"`;
    case 'A':
    case 'AAAA':
      return record.data;
    default:
      return `(a record of type ${record.type})`;
  }
}
