/** Writes `run.schema.json` from the zod schema: `node src/results/write-schema.ts`. A test says when it is due. */
import { writeFile } from 'node:fs/promises';
import { recordJsonSchema } from './json-schema.ts';

await writeFile(new URL('../../run.schema.json', import.meta.url), recordJsonSchema());
