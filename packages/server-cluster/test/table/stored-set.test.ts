/** What becomes of record sets to which others are added. */
import { TYPE } from '@dinodns-bench/wire';
import { expect, test } from 'vitest';
import { type StoredSet, withSet } from '../../src/table/stored-set.ts';

/** A signature for records of this type; only that part of its data matters here. */
const signature = (covered: number, ttl: number, rest: number) => ({
  ttl,
  data: Buffer.of(0, covered, rest),
});

test('signatures have the TTL of the first one for the same type', () => {
  const first: StoredSet = {
    type: TYPE.RRSIG,
    records: [signature(TYPE.A, 60, 1), signature(TYPE.TXT, 90, 1)],
  };
  const added: StoredSet = {
    type: TYPE.RRSIG,
    records: [
      signature(TYPE.TXT, 30, 2),
      signature(TYPE.A, 30, 2),
      signature(TYPE.A, 30, 1),
      signature(TYPE.MX, 10, 1),
      signature(TYPE.MX, 20, 2),
    ],
  };
  expect([first, added].reduce<readonly StoredSet[]>(withSet, [])).toEqual([
    {
      type: TYPE.RRSIG,
      records: [
        signature(TYPE.A, 60, 1),
        signature(TYPE.TXT, 90, 1),
        signature(TYPE.TXT, 90, 2),
        signature(TYPE.A, 60, 2),
        signature(TYPE.MX, 10, 1),
        signature(TYPE.MX, 10, 2),
      ],
    },
  ]);
});
