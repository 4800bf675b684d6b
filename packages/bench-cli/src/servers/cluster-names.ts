/** Servers where only names of a generated cluster are asked for, under their own names. */
import { DEFAULT_SOA, zonesInFiles } from '@dinodns-bench/zones';
import { coredns } from './coredns/index.ts';
import { CLUSTER, ownQuestions } from './coredns-cluster/cluster.ts';
import { corednsCluster } from './coredns-cluster/index.ts';
import type { ConfigurationFile, Readiness, Server } from './server.ts';

/** That of the `kubernetes` plugin in the Corefile of Kubernetes. */
const TTL = 30;

/** All Services and pods of the generated cluster have addresses in 10.0.0.0/8. */
const ZONES = [CLUSTER.spec.domain, '10.in-addr.arpa'] as const;

/** Every record of every answer to the workload `internal`, each once. */
function recordLines(): string[] {
  const records = ownQuestions().flatMap(({ name, expected }) =>
    expected.answers.map(({ type, data }) => {
      const isName = type === 'SRV' || type === 'PTR';
      return `${name}. ${TTL} IN ${type} ${data}${isName ? '.' : ''}`;
    }),
  );
  return [...new Set(records)];
}

/** Zone files as `zoneFiles` has them. */
export function clusterZoneFiles(): ConfigurationFile[] {
  const { mname, rname, serial, refresh, retry, expire } = DEFAULT_SOA;
  const lines = recordLines();
  return ZONES.map((zone) => {
    const own = lines.filter((line) => line.slice(0, line.indexOf(' ')).endsWith(`.${zone}.`));
    const apex = [
      `${zone}. ${TTL} IN SOA ${mname}. ${rname}. ${serial} ${refresh} ${retry} ${expire} ${TTL}`,
      `${zone}. ${TTL} IN NS ${mname}.`,
    ];
    return { path: `${zone}.zone`, chunks: [`${[...apex, ...own].join('\n')}\n`] };
  });
}

/** Asked for a name of the cluster, since it refuses those of the zone set. */
function whenLoaded(readiness: Readiness): Readiness {
  const [first] = ownQuestions();
  return readiness.kind === 'line' || first === undefined ? readiness : { ...readiness, name: first.name };
}

function fromZoneFiles(server: Server): Server {
  return {
    ...server,
    answersNamesOf: 'zones-of-generated-cluster',
    plan(request) {
      const { directory } = request;
      const plan = server.plan({ ...request, zoneSet: zonesInFiles(ZONES), zoneFiles: directory });
      return {
        ...plan,
        files: [...plan.files, ...clusterZoneFiles()],
        readiness: whenLoaded(plan.readiness),
      };
    },
  };
}

/**
 * `coredns` as clusters run it, so that `--servers coredns@1.11.3,coredns@1.13.1 --workload internal,external` compares the
 * versions; others with the records that are asked for as zone files, if they read such; the echo as it is.
 */
export function withClusterNames(server: Server): Server {
  if (server.kind === coredns.name && server.variant === null)
    return { ...server, ...corednsCluster.definition };
  if (server.readsZoneFiles === true) return fromZoneFiles(server);
  return server.answers === 'echo' ? { ...server, answersNamesOf: 'generated-cluster' } : server;
}
