/** Names of network namespaces, by which leftovers are found at the end of the run. */
import { FILE_VARIABLE } from './marks.ts';

/** Prefix of all namespaces of the running test file. */
export function namespacePrefix(): string {
  return `dt-${process.env[FILE_VARIABLE] ?? process.pid}-`;
}

/** Prefix of all namespaces of a run. */
export function runNamespacePrefix(runId: string): string {
  return `dt-${runId}.`;
}

/** The name for a namespace of the running test file. */
export function namespaceName(label: string): string {
  return `${namespacePrefix()}${label}`;
}
