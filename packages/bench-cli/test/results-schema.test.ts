import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { compareKind } from '../src/results/compare-kind.ts';
import { recordJsonSchema } from '../src/results/json-schema.ts';
import type { RunRecord } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { parseRecord } from './support/parse-record.ts';
import { referenceText } from './support/reference.ts';

const file = new URL('../run.schema.json', import.meta.url);

/** A validator that knows nothing of zod. Time stamps are checked by their pattern. */
async function validator() {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, validateFormats: false });
  return ajv.compile(JSON.parse(await readFile(file, 'utf8')));
}

const record = makeRecord({
  cases: [
    { server: 'coredns', trials: [{ qps: 100 }, { qps: 101 }] },
    {
      server: 'dinodns',
      trials: [{ qps: 200, latencySeconds: null, memoryBytes: null }, { failed: 'E_ALL_LOST' }],
    },
    { server: 'knot', trials: [] },
  ],
});

describe('run.schema.json', () => {
  it('is up to date; if not, run `node scripts/write-schemas.ts`', async () => {
    expect(await readFile(file, 'utf8')).toBe(recordJsonSchema(compareKind));
  });

  it('accepts a record, and one with fields that were added later', async () => {
    const validate = await validator();
    expect(validate(structuredClone(record)), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...record, addedLater: { x: 1 } })).toBe(true);
  });

  it.each([
    ['of an old run', () => readFile(new URL('fixtures/records/stored.json', import.meta.url), 'utf8')],
    ['of the published run', () => referenceText('local-tier1-both')],
  ])('accepts a stored record: %s', async (name, text) => {
    const validate = await validator();
    const record = parseRecord(await text(), name);
    expect(validate(structuredClone(record)), JSON.stringify(validate.errors)).toBe(true);
  });

  const broken: readonly (readonly [string, (record: RunRecord) => unknown])[] = [
    ['a schema version of another kind', (value) => ({ ...value, schemaVersion: 1 })],
    ['a missing field', ({ trials: _, ...rest }) => rest],
    [
      'a trial that is neither ok nor failed',
      (value) => ({ ...value, trials: [{ ...value.trials[0], status: 'maybe' }] }),
    ],
    ['a negative count', (value) => ({ ...value, trials: [{ ...value.trials[0], order: -1 }] })],
    ['a time that is none', (value) => ({ ...value, startedAt: 'yesterday' })],
  ];

  it.each(broken)('refuses %s', async (_, change) => {
    const validate = await validator();
    expect(validate(change(record))).toBe(false);
  });
});
