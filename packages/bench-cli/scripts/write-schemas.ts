/**
 * Writes the JSON Schemas of the package, such as `run.schema.json`: `node scripts/write-schemas.ts`. Tests say when it
 * is due.
 */
import { writeFile } from 'node:fs/promises';
import { allRecords } from '../src/experiments/registry.ts';
import { importedJsonSchema } from '../src/history/imported.ts';
import { serverJsonSchema } from '../src/servers/own/json-schema.ts';

for (const { kind, jsonSchema } of await allRecords())
  await writeFile(new URL(`../${kind.schemaFile}`, import.meta.url), jsonSchema());
await writeFile(new URL('../server.schema.json', import.meta.url), serverJsonSchema());
await writeFile(new URL('../imported.schema.json', import.meta.url), importedJsonSchema());
