/** Files as ConfigMaps. Pure. */
import type { V1ConfigMap } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { ConfigMapMount } from './pods.ts';

/** The API server accepts 1 MiB; 4 KiB of it are left for the metadata. */
const MAX_BYTES = 2 ** 20 - 4096;

export interface NamedFile {
  readonly path: string;
  readonly chunks: Iterable<string>;
}

/** Whole texts by their paths. */
export function textFiles(texts: Readonly<Record<string, string>>): NamedFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, chunks: [text] }));
}

/** A key may hold letters, digits, dots, underscores and hyphens; the path is given back at the mount. */
function keyOf(path: string): string {
  return path.replaceAll(/[^\w.-]/g, '__');
}

/**
 * @param what Names the files in the error: "the configuration of coredns".
 * @throws BenchError `E_CONFIG` if the files are more than a ConfigMap holds.
 */
export function configMapOf(
  metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> },
  what: string,
  files: Iterable<NamedFile>,
): { object: V1ConfigMap; mount: ConfigMapMount; text: Record<string, string> } {
  const data: Record<string, string> = {};
  const items: Record<string, string> = {};
  const text: Record<string, string> = {};
  let bytes = 0;
  for (const { path, chunks } of files) {
    let content = '';
    for (const chunk of chunks) {
      content += chunk;
      bytes += Buffer.byteLength(chunk);
      if (bytes > MAX_BYTES) {
        throw new BenchError('E_CONFIG', `${what} is larger than the 1 MiB that a ConfigMap can hold`, {
          fix: 'Choose fewer zones with --zones; a few thousand fit, depending on the server.',
        });
      }
    }
    data[keyOf(path)] = content;
    items[keyOf(path)] = path;
    text[path] = content;
  }
  return {
    object: { metadata, data, immutable: true },
    mount: { configMap: metadata.name, items },
    text,
  };
}
