/**
 * Migrates a record of any older schema version to this version, step by step: a step knows only two versions.
 * Records of every version are in `test/fixtures/records`, and tests load them.
 */
import type { Json } from './migration.ts';
import type { RecordKind } from './record-kind.ts';

type Versions = Pick<RecordKind<unknown>, 'schemaVersion' | 'migrations'>;

/** Oldest version that can be read. */
export function oldestVersion({ schemaVersion, migrations }: Versions): number {
  return schemaVersion - migrations.length;
}

/** True for a version that `migrate` takes. */
export function isReadable(kind: Versions, version: unknown): version is number {
  return (
    typeof version === 'number' &&
    Number.isInteger(version) &&
    version >= oldestVersion(kind) &&
    version <= kind.schemaVersion
  );
}

/** `record` of the readable `version` in the form of `schemaVersion`, still to be checked against the schema. */
export function migrate(kind: Versions, record: Json, version: number): Json {
  const steps = kind.migrations.slice(version - oldestVersion(kind));
  return { ...steps.reduce((value, step) => step(value), record), schemaVersion: kind.schemaVersion };
}
