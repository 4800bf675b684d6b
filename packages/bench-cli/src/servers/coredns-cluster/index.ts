/** CoreDNS as clusters run it, as a server kind, with the configurations that are compared. */
import { coredns } from '../coredns/index.ts';
import type { ServerKind, Variant } from '../server.ts';
import { type Choice, definitionOf } from './definition.ts';

/** Its answers are checked before a load. CoreDNS waits five seconds for what it reads, and a busy machine takes longer for all pods. */
const READ_FIRST = { isReadyLate: true } as const;

function variant(title: string, description: string, choice: Choice): Variant {
  return { title, description, definition: definitionOf(choice, READ_FIRST) };
}

export const corednsCluster: ServerKind = {
  name: 'coredns-cluster',
  title: 'CoreDNS in a cluster',
  description: 'CoreDNS with the stock Corefile of Kubernetes and a generated cluster of 15,820 objects',
  definition: definitionOf({}, READ_FIRST),
  variants: {
    nocache: variant('no cache', 'the same without `cache`', { cache: 'off' }),
    'no-denial': variant('no negative cache', 'the same without negative answers in its cache', {
      cache: 'no-denial',
    }),
    verified: variant('pods verified', 'the same, with all pods in memory', { pods: 'verified' }),
    autopath: variant(
      'autopath',
      'the same, with all pods in memory and `autopath` for pods of one namespace, by a file like resolv.conf',
      {
        pods: 'verified',
        autopath: true,
      },
    ),
  },
  ...(coredns.defaultVersion === undefined ? {} : { defaultVersion: coredns.defaultVersion }),
};
