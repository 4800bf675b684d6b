/** Every server kind, in the order of `bench servers`. */

import { nearest } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { clusterDns } from './cluster-dns/index.ts';
import { coredns, corednsFile, corednsMultisocket } from './coredns/index.ts';
import { dinodns, dinodnsStock } from './dinodns/index.ts';
import { echo } from './echo/index.ts';
import { knot } from './knot/index.ts';
import { nsd } from './nsd/index.ts';
import type { ServerKind } from './server.ts';

export const SERVER_KINDS: readonly ServerKind[] = [
  coredns,
  corednsMultisocket,
  corednsFile,
  dinodnsStock,
  dinodns,
  knot,
  nsd,
  echo,
  clusterDns,
];

/**
 * The server kinds of these names.
 * @throws BenchError `E_UNKNOWN_SERVER` with the nearest known name.
 */
export function serverKinds(names: readonly string[]): ServerKind[] {
  return names.map((name) => {
    const kind = SERVER_KINDS.find((candidate) => candidate.name === name);
    if (kind !== undefined) return kind;
    const known = SERVER_KINDS.map((candidate) => candidate.name);
    const suggestion = nearest(name, known);
    throw new BenchError('E_UNKNOWN_SERVER', `unknown server "${name}"`, {
      fix:
        suggestion === undefined
          ? `Choose from ${known.join(', ')}; \`bench servers\` describes them.`
          : `Did you mean "${suggestion}"? \`bench servers\` lists them all.`,
    });
  });
}
