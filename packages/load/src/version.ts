import { versionIn } from '@dinodns-bench/program';

/** The version in this package's package.json. */
export function packageVersion(): string {
  return versionIn(new URL('../package.json', import.meta.url));
}
