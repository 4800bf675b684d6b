import { readFileSync } from 'node:fs';

/** The version in a package.json. Throws if it has none: the package is then incomplete. */
export function versionIn(manifest: URL | string): string {
  const content: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  if (typeof content === 'object' && content !== null && 'version' in content) return String(content.version);
  throw new Error(`${manifest} states no version`);
}
