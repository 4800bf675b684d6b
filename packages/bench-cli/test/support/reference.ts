/** The published runs in `results/reference`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Absolute path of the folder of a published run. */
export function referenceFolder(name: string): string {
  return fileURLToPath(new URL(`../../../../results/reference/${name}`, import.meta.url));
}

/** The text of its record. */
export function referenceText(name: string): string {
  return gunzipSync(readFileSync(`${referenceFolder(name)}/run.json.gz`)).toString();
}

/** What only programs call something: servers as `--servers` names them, faults, keys of cases, methods. */
export const RAW_NAMES =
  /\bcoredns[@+][\w.]+|\bcoredns-cluster\b|\bdinodns[@+]\w+|\bupstream-\w+|\bcgroup-v\d-quota|\/tier=/g;
