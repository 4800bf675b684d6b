import { readFileSync } from 'node:fs';

/** The version that a package.json states. Throws if it has none: then the package is not whole. */
export function versionIn(manifest: URL | string): string {
  const content: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  if (typeof content === 'object' && content !== null && 'version' in content) return String(content.version);
  throw new Error(`${manifest} states no version`);
}
