/** Problems with whole zones are found, with their places. */
import { encodeName } from '@dinodns-bench/wire';
import { describe, expect, it } from 'vitest';
import { checkZone } from '../../src/index.ts';
import { CASES, recordOf } from './cases.ts';

describe('a zone', () => {
  it.each(CASES)('of the class $name is judged, with the place', ({ name, lines, findings }) => {
    const zone = `${name}.test`;
    const found = checkZone(
      encodeName(zone),
      lines.map((line, index) => recordOf(line, index, zone)),
    );
    expect(found.map(({ severity, rule, record }) => [severity, rule, record?.line ?? 0])).toEqual(findings);
    for (const { problem, fix, record } of found) {
      if (record !== undefined) expect(problem).toMatch(new RegExp(`^${zone}\\.zone:${record.line}: `));
      expect(fix.length).toBeGreaterThan(10);
    }
  });

  it('is checked without regard to the case of names, and with or without places of records', () => {
    const records = ['@ SOA ns admin 1 2 3 4 5', '@ NS ns.example.org.', 'WWW CNAME a.', 'www A 192.0.2.1'];
    const plain = records.map((line, index) => {
      const { name, type, ttl, data } = recordOf(line, index, 'Example');
      return { name, type, ttl, data };
    });
    const findings = checkZone(encodeName('eXample'), plain);
    expect(findings.map(({ rule }) => rule)).toEqual(['cname-and-other']);
    expect(findings[0]?.problem).toBe('www.example. has a CNAME record beside A');
  });

  it.each(['A', 'NS'])(
    'with thousands of %s records at one name compares none of them with all others',
    (type) => {
      const count = 4000;
      let reads = 0;
      // Each is there twice; a record counts once.
      const records = Array.from({ length: 2 * count }, (_, index) => {
        const host = index % count;
        const data = type === 'A' ? `192.0.${host >> 8}.${host & 255}` : `ns${host}.example.org.`;
        const record = recordOf(`@ ${type} ${data}`, index, 'wide.test');
        return Object.defineProperty({ ...record }, 'data', {
          get: () => {
            reads += 1;
            return record.data;
          },
        });
      });
      const findings = checkZone(encodeName('wide.test'), records);
      expect(findings.map(({ rule }) => rule)).toEqual(type === 'A' ? ['no-soa', 'no-ns'] : ['no-soa']);
      // A few for each; comparing each with all others would take 16 million.
      expect(reads).toBeLessThan(10 * records.length);
    },
  );

  it('reports every one of very many hosts without an address', () => {
    const count = 130_000;
    const mx = recordOf('@ MX 10 h', 0, 'hosts.test');
    const records = Array.from({ length: count }, (_, index) => ({
      ...mx,
      data: Buffer.concat([mx.data.subarray(0, 2), encodeName(`h${index}.hosts.test`)]),
    }));
    const findings = checkZone(encodeName('hosts.test'), records);
    expect(findings.filter(({ rule }) => rule === 'no-address')).toHaveLength(count);
  });

  it('of 50,000 names takes at most five seconds of CPU time', () => {
    const records = Array.from({ length: 50_000 }, (_, index) =>
      recordOf(`h${index} A 192.0.2.1`, index, 'large.test'),
    );
    const start = process.threadCpuUsage();
    const findings = checkZone(encodeName('large.test'), records);
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(5);
    expect(findings.map(({ rule }) => rule)).toEqual(['no-soa', 'no-ns']);
  });
});
