/** The versions of this package, the framework and the runtime. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { versionIn } from '@dinodns-bench/program';

export function packageVersion(): string {
  return versionIn(new URL('../package.json', import.meta.url));
}

/**
 * For example `0.1.0 (dinodns 0.0.13, Node.js 24.21.0, UDP native)`. The framework matters as much as this
 * package. `directory` holds the framework if it is another one than that beside this package.
 */
export function describeVersions(udpBackend: string, directory?: string): string {
  const framework = versionIn(
    directory === undefined
      ? createRequire(import.meta.url).resolve('dinodns/package.json')
      : join(directory, 'package.json'),
  );
  return `${packageVersion()} (dinodns ${framework}, Node.js ${process.versions.node}, UDP ${udpBackend})`;
}
