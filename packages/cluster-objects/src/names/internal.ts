/**
 * The names of a cluster and their answers, as the DNS specification of Kubernetes has them and CoreDNS's `kubernetes`
 * plugin gives them (https://github.com/kubernetes/dns/blob/master/docs/specification.md).
 */
import { reverseName } from '@dinodns-bench/wire';
import { type Cluster, type Pod, SERVICE_PORT, type Service } from '../cluster/cluster.ts';
import { addressesAs, type Expected, NO_SUCH_NAME, type Question } from './question.ts';

export function serviceName({ spec }: Cluster, { name, namespace }: Service): string {
  return `${name}.${namespace}.svc.${spec.domain}`;
}

/** An address as a label: `10-128-0-2`, `fd00-10-128-1--2`. */
function dashed(address: string): string {
  const label = address.replaceAll(/[.:]/g, '-');
  return label.endsWith('-') ? `${label}0` : label;
}

/** The pods behind a service, in the order of its endpoints, each with the name of the endpoint below the service's. */
function* membersOf(cluster: Cluster, { firstEndpoint, endpointCount }: Service) {
  for (let endpoint = firstEndpoint; endpoint < firstEndpoint + endpointCount; endpoint++) {
    const pod = cluster.pod(cluster.podOfEndpoint(endpoint));
    yield { pod, label: memberLabel(pod, endpoint) };
  }
}

/** The label of a pod's addresses within a service: its hostname where it has one, else the address itself. */
function memberLabel(pod: Pod, endpoint: number): (address: string) => string {
  const { hostname } = pod;
  return hostname !== null && endpoint === pod.index ? () => hostname : dashed;
}

function serviceAddresses(cluster: Cluster, service: Service): readonly string[] {
  return service.headless
    ? [...membersOf(cluster, service)].flatMap(({ pod }) => pod.addresses)
    : service.addresses;
}

/** A service's own name. A headless service without endpoints does not exist, as far as CoreDNS is concerned. */
export function serviceQuestion(cluster: Cluster, service: Service, type: 'A' | 'AAAA'): Question {
  const addresses = serviceAddresses(cluster, service);
  const expected = addresses.length === 0 ? NO_SUCH_NAME : addressesAs(type, addresses);
  return { name: serviceName(cluster, service), type, expected };
}

/** One member of a service, by its name; `member` from 0 to `endpointCount` − 1. */
export function memberQuestion(
  cluster: Cluster,
  service: Service,
  member: number,
  type: 'A' | 'AAAA',
): Question {
  const endpoint = service.firstEndpoint + member;
  const pod = cluster.pod(cluster.podOfEndpoint(endpoint));
  const label = memberLabel(pod, endpoint);
  const name = label(pod.addresses[0] ?? '');
  // With a hostname all addresses share the name; otherwise each has its own.
  const addresses = pod.addresses.filter((address) => label(address) === name);
  return { name: `${name}.${serviceName(cluster, service)}`, type, expected: addressesAs(type, addresses) };
}

/** The SRV records of a service's port: the service itself, or all members of a headless one. */
export function srvQuestion(cluster: Cluster, service: Service): Question {
  const target = serviceName(cluster, service);
  const { name: port, protocol, port: servicePort, targetPort } = SERVICE_PORT;
  const targets = service.headless
    ? [...membersOf(cluster, service)].flatMap(({ pod, label }) =>
        pod.addresses.map((address) => `${label(address)}.${target}`),
      )
    : service.addresses.map(() => target);
  // The weight is shared among the addresses (CoreDNS, plugin/backend_lookup.go); a target is named once.
  const weight = Math.max(1, Math.floor(100 / Math.max(1, targets.length)));
  const answers = [...new Set(targets)].map((host) => ({
    type: 'SRV' as const,
    data: `0 ${weight} ${service.headless ? targetPort : servicePort} ${host}`,
  }));
  const expected: Expected = answers.length === 0 ? NO_SUCH_NAME : { rcode: 'NOERROR', answers };
  return { name: `_${port}._${protocol.toLowerCase()}.${target}`, type: 'SRV', expected };
}

/** A pod by its address and namespace: `10-128-0-2.team-000.pod.cluster.local`. */
export function podQuestion({ spec }: Cluster, { addresses, namespace }: Pod): Question {
  const [address = ''] = addresses;
  return {
    name: `${dashed(address)}.${namespace}.pod.${spec.domain}`,
    type: 'A',
    expected: addressesAs('A', [address]),
  };
}

const pointersTo = (names: readonly string[]): Expected => ({
  rcode: 'NOERROR',
  answers: names.map((data) => ({ type: 'PTR', data })),
});

/** An address of a service that is not headless; `family` is the position of the address. */
export function servicePointerQuestion(cluster: Cluster, service: Service, family = 0): Question {
  const name = reverseName(service.addresses[family] ?? '');
  return { name, type: 'PTR', expected: pointersTo([serviceName(cluster, service)]) };
}

/** An address of a pod: it leads to its name within each service that it backs, or nowhere if it backs none. */
export function podPointerQuestion(cluster: Cluster, pod: Pod, family = 0): Question {
  const address = pod.addresses[family] ?? '';
  const names = cluster.endpointsOfPod(pod.index).map((endpoint) => {
    const service = cluster.service(cluster.serviceOfEndpoint(endpoint));
    return `${memberLabel(pod, endpoint)(address)}.${serviceName(cluster, service)}`;
  });
  return { name: reverseName(address), type: 'PTR', expected: pointersTo(names) };
}
