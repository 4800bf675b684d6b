/** Shared by the Corefile formats. */
import type { Settings } from './format.ts';

/** What CoreDNS puts before a zone for each transport. */
const SCHEMES = { tls: 'tls://', https: 'https://' } as const;

/** The name of a zone's server block: its transport, the zone and the port. */
export function corednsBlockName(zone: string, { port, encryption }: Settings): string {
  return `${encryption === undefined ? '' : SCHEMES[encryption.transport]}${zone}:${port}`;
}

/** The directives at the head of every server block. */
export function corednsBlockHead({ address, coredns, encryption }: Settings): string {
  const tls =
    encryption === undefined ? '' : `  tls "${encryption.certificateFile}" "${encryption.keyFile}"\n`;
  const multisocket = coredns.multisocket === undefined ? '' : `  multisocket ${coredns.multisocket}\n`;
  return `  bind ${address}\n${tls}${multisocket}${coredns.cache ? '  cache\n' : ''}`;
}
