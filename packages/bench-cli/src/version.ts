/** The version of bench, from its own package.json: one place, read once. */
import packageJson from '../package.json' with { type: 'json' };

export const BENCH_VERSION: string = packageJson.version;
