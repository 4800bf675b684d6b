import { versionIn } from '@dinodns-bench/program';

/** The package's version, of its package.json. */
export function packageVersion(): string {
  return versionIn(new URL('../package.json', import.meta.url));
}
