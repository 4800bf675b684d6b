/** Shared by the Corefile formats. */
import type { Settings } from './format.ts';

/** The directives at the head of every server block. */
export function corednsBlockHead({ address, coredns }: Settings): string {
  const multisocket = coredns.multisocket === undefined ? '' : `  multisocket ${coredns.multisocket}\n`;
  return `  bind ${address}\n${multisocket}`;
}
