/** Names of network namespaces, by which the end of the run finds those that are left. */
import { FILE_VARIABLE } from './marks.ts';

/** All namespaces of the running test file begin with it. */
export function namespacePrefix(): string {
  return `dt-${process.env[FILE_VARIABLE] ?? process.pid}-`;
}

/** All namespaces of a run begin with it. */
export function runNamespacePrefix(runId: string): string {
  return `dt-${runId}.`;
}

/** The name for a namespace of the running test file. */
export function namespaceName(label: string): string {
  return `${namespacePrefix()}${label}`;
}
