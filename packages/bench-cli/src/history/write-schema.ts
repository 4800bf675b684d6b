/** Writes `imported.schema.json`: `node src/history/write-schema.ts`. A test says when it is due. */
import { writeFile } from 'node:fs/promises';
import { importedJsonSchema } from './imported-schema.ts';

await writeFile(new URL('../../imported.schema.json', import.meta.url), importedJsonSchema());
