/**
 * Migrates a record of any older schema version to this version, step by step: a step knows only two versions.
 * Records of every version are in `test/fixtures/records`, and tests load them.
 */
import { migrate1to2 } from './migrate-1-to-2.ts';
import { migrate2to3 } from './migrate-2-to-3.ts';
import type { Json } from './migration.ts';
import { SCHEMA_VERSION } from './record.ts';

/** `STEPS[0]` leads from version 1 to 2, and so on up to `SCHEMA_VERSION`. */
const STEPS: readonly ((record: Json) => Json)[] = [migrate1to2, migrate2to3];

/** Oldest version that can be read. */
export const OLDEST_VERSION = SCHEMA_VERSION - STEPS.length;

/** True for a version that `migrate` takes. */
export function isReadable(version: unknown): version is number {
  return (
    typeof version === 'number' &&
    Number.isInteger(version) &&
    version >= OLDEST_VERSION &&
    version <= SCHEMA_VERSION
  );
}

/** `record` of the readable `version` in the form of `SCHEMA_VERSION`, still to be checked against the schema. */
export function migrate(record: Json, version: number): Json {
  const steps = STEPS.slice(version - OLDEST_VERSION);
  return { ...steps.reduce((value, step) => step(value), record), schemaVersion: SCHEMA_VERSION };
}
