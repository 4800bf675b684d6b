/** Writes `run.schema.json`, `server.schema.json` and `imported.schema.json`: `node scripts/write-schemas.ts`. Tests say when it is due. */
import { writeFile } from 'node:fs/promises';
import { importedJsonSchema } from '../src/history/imported-schema.ts';
import { recordJsonSchema } from '../src/results/json-schema.ts';
import { serverJsonSchema } from '../src/servers/own/json-schema.ts';

await writeFile(new URL('../run.schema.json', import.meta.url), recordJsonSchema());
await writeFile(new URL('../server.schema.json', import.meta.url), serverJsonSchema());
await writeFile(new URL('../imported.schema.json', import.meta.url), importedJsonSchema());
