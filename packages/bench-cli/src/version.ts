/** The version of bench, from its own package.json: one place, read once. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');

export const BENCH_VERSION: string = z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
