/** Programs of ours that Node.js runs in pods, from the sources of bench, as ConfigMaps. */
import { basename } from 'node:path';
import { ownText } from '../../own-files.ts';
import type { ClusterRun } from './cluster-run.ts';
import { configMapOf, type NamedFile } from './objects/config-map.ts';
import type { ConfigMapMount } from './objects/pods.ts';

export const programName = ({ pathname }: URL) => basename(pathname);

export const programFile = (url: URL): NamedFile => ({ path: programName(url), chunks: [ownText(url)] });

export interface Upload {
  readonly name: string;
  readonly labels: Record<string, string>;
  /** For errors: `the canary`. */
  readonly what: string;
  readonly files: readonly NamedFile[];
}

export async function uploadFiles(
  { client, namespace }: Pick<ClusterRun, 'client' | 'namespace'>,
  { name, labels, what, files }: Upload,
  signal: AbortSignal,
): Promise<ConfigMapMount> {
  const { object, mount } = configMapOf({ name, namespace, labels }, what, files);
  await client.create('ConfigMap', object, signal);
  return mount;
}
