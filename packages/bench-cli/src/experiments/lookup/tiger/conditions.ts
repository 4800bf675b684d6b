/** Settings and cluster of a test of tiger-bench, in words. Pure. */
import { textAt, valueAt } from '../../../cluster-changes/json.ts';
import { DETAIL_TITLES } from '../pods/cluster-details.ts';

/** Words by name, for example `Services` → `1000`. */
export type Conditions = Readonly<Record<string, string>>;

/** For what a file leaves out, or does not know. */
export const NOT_SAID = '–';

function words(element: unknown, pointer: string): string {
  const value = valueAt(element, pointer);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'number' ? String(value) : textAt(element, pointer);
  return text === '' || text === 'unknown' ? NOT_SAID : text;
}

/** A page without a path has one slash or none. */
const pageOf = (url: string) => url.replace(/(?<=^[a-z]+:\/\/[^/]+)\/$/, '');

function policyOf(element: unknown): string {
  if (valueAt(element, '/config/DNSPerf/TestDNSPolicy') !== true) return 'none';
  const mode = textAt(element, '/config/DNSPerf/Mode');
  return mode === '' ? 'with the mode of the cluster' : mode;
}

const DETAILS = [
  ...(['NodeOS', 'NodeKernel', 'NodeArch', 'K8SVersion', 'CRIVersion', 'CNIOption'] as const),
  ...(['Dataplane', 'Encapsulation', 'Product', 'CalicoVersion'] as const),
];

/** @param element Of a results file: `config` and `ClusterDetails`. */
export function conditionsOf(element: unknown): Conditions {
  const setting = (name: string) => words(element, `/config/${name}`);
  const detail = (name: string) => words(element, `/ClusterDetails/${name}`);
  const limit = setting('CalicoNodeCPULimit');
  const nodes = detail('NumNodes');
  return {
    page: pageOf(setting('DNSPerf/TargetURL')),
    seconds: setting('Duration'),
    Services: setting('NumServices'),
    'DNS policy': policyOf(element),
    stress: setting('DNSPerf/RunStress'),
    'CPU limit of calico-node': limit === NOT_SAID ? 'none' : limit,
    nodes: nodes === '0' ? NOT_SAID : nodes,
    ...Object.fromEntries(DETAILS.map((name) => [DETAIL_TITLES[name], detail(name)])),
  };
}
