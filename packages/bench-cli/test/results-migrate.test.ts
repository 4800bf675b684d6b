import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { BenchError } from '../src/errors.ts';
import { planRun } from '../src/plan/plan.ts';
import { compareKind } from '../src/results/compare-kind.ts';
import { formatJson } from '../src/results/json-text.ts';
import { migrate, oldestVersion } from '../src/results/migrate.ts';
import { parseRecord } from '../src/results/parse-record.ts';
import { recordSchema, SCHEMA_VERSION } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { referenceText } from './support/reference.ts';

/** Records as they were written by the versions of bench that wrote their schema version. */
const STORED = await Promise.all(
  ['version-1.json', 'version-2.json'].map((name) =>
    readFile(new URL(`fixtures/records/${name}`, import.meta.url), 'utf8'),
  ),
);
const REFERENCE = referenceText('local-tier1-both');

function errorOf(value: unknown): BenchError {
  try {
    parseRecord(JSON.stringify(value), 'run.json');
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('a stored record', () => {
  it.each([...STORED, REFERENCE].map((text, index) => ({ text, index })))(
    'of an older version loads, with all that it held: $index',
    ({ text }) => {
      const stored = JSON.parse(text);
      const record = parseRecord(text, 'run.json');
      expect(record.schemaVersion).toBe(SCHEMA_VERSION);
      // Nothing that was stored is lost or changed but what the steps say; what is new is null, false or empty.
      const { schemaVersion: _version, workload, ...rest } = stored;
      const { zones, ...told } = workload;
      const before = JSON.parse(JSON.stringify(rest), (key, value) =>
        key === 'kind' && value === 'coredns-file' ? 'coredns' : value,
      );
      const unkeyed = (value: unknown) =>
        JSON.parse(JSON.stringify(value), (_, item) =>
          typeof item === 'string'
            ? item.replaceAll('coredns-file', 'coredns+file').replace(/\/rate=\d+(?=#|$)/, '')
            : item,
        );
      expect(unkeyed({ ...record, workload: { ...record.workloads[0], zones: record.zones } })).toMatchObject(
        unkeyed({ ...before, workload: { ...told, zones } }),
      );
      expect(parseRecord(formatJson(record), 'run.json')).toEqual(record);
    },
  );

  it('exists for every version that can be read but the newest', () => {
    const versions = STORED.map((text) => JSON.parse(text).schemaVersion);
    expect(versions).toEqual(
      Array.from({ length: compareKind.migrations.length }, (_, index) => oldestVersion(compareKind) + index),
    );
  });

  it('of version 2: its rate is part of the cases, kinds that are variants now are named so, everywhere', async () => {
    const [, text = ''] = STORED;
    const record = parseRecord(text, 'run.json');
    const [plain, variant] = ['coredns', 'coredns+file'].map(
      (name) => `${name}/tier=1/single/half/udp/rate=2000`,
    );
    expect(record.servers.map(({ name, kind, variant }) => ({ name, kind, variant }))).toEqual([
      { name: 'coredns', kind: 'coredns', variant: null },
      { name: 'coredns+file', kind: 'coredns', variant: 'file' },
    ]);
    expect(record.cases).toMatchObject([
      { key: plain, ratePerSecond: 2000, comparison: null },
      { key: variant, server: 'coredns+file', ratePerSecond: 2000, comparison: { baseline: plain } },
      { key: `coredns(aa)/tier=1/single/half/udp/rate=2000`, aa: true },
    ]);
    expect(record.trials.find(({ caseKey }) => caseKey === variant)?.key).toBe(`${variant}#0`);
    expect(record.noiseFloors?.[0]?.comparison.baseline).toBe(plain);
  });

  it('of version 2 has the keys that a resumed run plans', async () => {
    const [, text = ''] = STORED;
    const record = parseRecord(text, 'run.json');
    const values = { ...record.configuration, loader: record.loader.kind };
    const configuration = configure({ file: { path: 'run.json', values }, env: {}, flags: {} });
    expect(
      planRun(configuration, 2)
        .trials.map(({ key }) => key)
        .toSorted(),
    ).toEqual(record.trials.map(({ key }) => key).toSorted());
  });

  it('of version 1 knows nothing of what version 2 brought', async () => {
    const [text = ''] = STORED;
    const record = parseRecord(text, 'run.json');
    expect(record).toMatchObject({ noiseFloors: null, drift: null, until: null });
    expect(record.environment.cluster).toBeNull();
    const [trial] = record.trials;
    expect(trial).toMatchObject({
      status: 'ok',
      instanceObservations: null,
      steadyState: null,
      load: { latencyPercentiles: null },
      loads: [{ latencyPercentiles: null }],
    });
    expect(record.cases[1]).toMatchObject({
      aa: false,
      outliers: [],
      latencyHistogram: null,
      summary: { latencyPercentiles: null },
      comparison: { qps: { pValue: null, adjustedPValue: null, effectSize: null, belowNoiseFloor: null } },
    });
  });

  it('with failed trials, without comparisons and without summaries migrates too', async () => {
    const [text = ''] = STORED;
    const stored = JSON.parse(text);
    const { load, loads, server, loader, metrics, limitedBy, checkedAnswers, ...base } = stored.trials[0];
    const failure = { code: 'E_ALL_LOST', message: 'lost', fix: 'Look.', evidence: [] };
    stored.trials[0] = { ...base, status: 'failed', failure };
    stored.cases[0] = { ...stored.cases[0], summary: null, comparison: null };
    expect(parseRecord(JSON.stringify(stored), 'run.json')).toMatchObject(migrate(compareKind, stored, 1));
  });

  it('that was damaged by hand is refused at the place of the damage, whatever its version', async () => {
    const [text = ''] = STORED;
    const stored = JSON.parse(text);
    for (const [damage, place] of [
      [{ trials: null }, 'trials: '],
      [{ environment: 'a machine' }, 'environment: '],
      [{ cases: [3, ...stored.cases.slice(1)] }, 'cases[0]: '],
    ] as const) {
      const error = errorOf({ ...stored, ...damage });
      expect(error.code).toBe('E_RECORD_UNREADABLE');
      expect(error.evidence[0]).toContain(place);
    }
  });
});

describe('a record of a version that is not known', () => {
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  const generator = { name: 'dinodns-bench', version: '9.9' };

  it.each([SCHEMA_VERSION + 1, 99])('is refused if newer: %s', (schemaVersion) => {
    const error = errorOf({ ...record, schemaVersion, generator });
    expect(error.code).toBe('E_RECORD_VERSION');
    expect(error.message).toContain(`schema version ${schemaVersion}, this version of bench reads 1 to`);
    expect(error.fix).toContain('9.9, which is newer: update');
    expect(error.exitStatus).toBe(6);
  });

  it.each([0, 1.5, '2', null])('is refused if it is none: %s', (schemaVersion) => {
    expect(errorOf({ ...record, schemaVersion, generator }).code).toBe('E_RECORD_VERSION');
  });
});

it('a record of this version passes as it is', () => {
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  expect(migrate(compareKind, record, SCHEMA_VERSION)).toEqual(record);
  expect(recordSchema.parse(record)).toEqual(record);
});
