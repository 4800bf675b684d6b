/** The versions of what answers: this package, the framework, the runtime. */
import { createRequire } from 'node:module';
import { versionIn } from '@dinodns-bench/program';

export function packageVersion(): string {
  return versionIn(new URL('../package.json', import.meta.url));
}

/** `0.1.0 (dinodns 0.0.13, Node.js 24.21.0, UDP native)`: what answers is the framework as much as this package. */
export function describeVersions(udpBackend: string): string {
  const framework = versionIn(createRequire(import.meta.url).resolve('dinodns/package.json'));
  return `${packageVersion()} (dinodns ${framework}, Node.js ${process.versions.node}, UDP ${udpBackend})`;
}
