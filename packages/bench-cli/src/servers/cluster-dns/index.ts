/** The cluster's own DNS servers: measured as they are, behind their own Service. Nothing is changed. */
import type { ServerDefinition, ServerKind } from '../server.ts';

const definition: ServerDefinition = {
  program: null,
  image: null,
  existing: { kind: 'cluster-dns' },
  answersUnknownZoneWith: 'NXDOMAIN',
  plan: () => {
    throw new Error('cluster-dns is found, not deployed');
  },
  versionArguments: [],
  parseVersion: () => null,
};

export const clusterDns: ServerKind = {
  name: 'cluster-dns',
  title: 'Cluster DNS',
  description: "the cluster's own DNS, unchanged, queried for names of the cluster; --target kubernetes",
  definition,
};
