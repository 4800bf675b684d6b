/** The version of bench, from its own package.json: one place, read once. */
import { versionIn } from '@dinodns-bench/program';

export const BENCH_VERSION: string = versionIn(new URL('../package.json', import.meta.url));
