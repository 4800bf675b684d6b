/** Problems with whole zones are found, with their places. */
import { encodeName } from '@dinodns-bench/wire';
import { describe, expect, it } from 'vitest';
import { checkZone } from '../../src/index.ts';
import { CASES, recordOf } from './cases.ts';

describe('a zone', () => {
  it.each(CASES)('of the class $name is judged, with the place', ({ name, lines, findings }) => {
    const zone = `${name}.test`;
    const {
      findings: found,
      isServable,
      ignored,
    } = checkZone(
      encodeName(zone),
      lines.map((line, index) => recordOf(line, index, zone)),
    );
    expect(found.map(({ severity, rule, record }) => [severity, rule, record?.line ?? 0])).toEqual(findings);
    expect(isServable).toBe(!findings.some(([severity]) => severity === 'error'));
    expect(ignored.length).toBe(name === 'outside' ? 1 : 0);
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
    const { findings } = checkZone(encodeName('eXample'), plain);
    expect(findings.map(({ rule }) => rule)).toEqual(['cname-and-other']);
    expect(findings[0]?.problem).toBe('www.example. has a CNAME record beside A');
  });

  it('of 50,000 names takes at most five seconds', () => {
    const records = Array.from({ length: 50_000 }, (_, index) =>
      recordOf(`h${index} A 192.0.2.1`, index, 'large.test'),
    );
    const start = performance.now();
    const { findings } = checkZone(encodeName('large.test'), records);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(findings.map(({ rule }) => rule)).toEqual(['no-soa', 'no-ns']);
  });
});
