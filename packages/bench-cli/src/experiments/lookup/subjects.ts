/** What is compared in a run. Pure: from its settings alone, so that a record tells it as well. */
import { canonicalServerName } from '../../config/server-name.ts';
import type { Subject } from '../../engine/experiment.ts';
import { formatCount } from '../../report/numbers.ts';
import { serverTitle } from '../../servers/registry.ts';
import { counted } from '../../text.ts';
import type { PolicyMode, Prediction } from './policy/modes.ts';
import type { Client } from './sampling/sampler.ts';
import { type LookupSettings, placeKind } from './settings.ts';

export interface LookupSubject extends Subject {
  /** Who answers: the index of a server of --local; 0 elsewhere. */
  readonly resolver: number;
  readonly client: Client;
  /** Simulated, or of Calico Enterprise. */
  readonly policy: PolicyMode | null;
  /** Standing ones. */
  readonly services: number;
}

/** `1000 Services/Inline` → `1,000 Services, Inline`; `coredns@1.15.0/NoDelay` → `CoreDNS 1.15.0, NoDelay` */
export function wordsOf(name: string): string {
  const [place = '', ...others] = name.split('/');
  const counted = place.replace(/^\d+(?= Services?\b)/, (count) => formatCount(Number(count)));
  return [serverTitle(counted), ...others].join(', ');
}

type Axes = Pick<
  LookupSettings,
  'target' | 'local' | 'servers' | 'simulatePolicy' | 'client' | 'services' | 'policyModes'
>;

/** Names of the resolvers or, on a cluster, of the numbers of Services. */
function placesOf(settings: Axes): readonly string[] {
  switch (placeKind(settings)) {
    case 'cluster':
      return settings.services.map((count) => counted(count, 'Service'));
    case 'lab':
      return settings.servers.map(canonicalServerName);
    case 'machine':
      return ['this machine'];
  }
}

/** Every resolver or number of Services with every policy and every client; a part that all have in common is not in the name. */
export function subjectsOf(settings: Axes): LookupSubject[] {
  const { client: clients } = settings;
  const kind = placeKind(settings);
  const places = placesOf(settings);
  const given = { cluster: settings.policyModes, lab: settings.simulatePolicy, machine: undefined }[kind];
  const modes: readonly (PolicyMode | null)[] = given ?? [null];
  const isSimulated = kind === 'lab' && given !== undefined;
  return places.flatMap((place, index) =>
    modes.flatMap((policy) =>
      clients.map((client): LookupSubject => {
        const others = [
          ...(policy !== null && (modes.length > 1 || (isSimulated && places.length === 1)) ? [policy] : []),
          ...(clients.length > 1 ? [client] : []),
        ];
        const name = [...(places.length > 1 || others.length === 0 ? [place] : []), ...others].join('/');
        const services = kind === 'cluster' ? (settings.services[index] ?? 0) : 0;
        const resolver = kind === 'lab' ? index : 0;
        return { name, title: wordsOf(name), resolver, client, policy, services };
      }),
    ),
  );
}

/** What the others are compared with: the first, or the first policy that adds nothing. */
export function baselineOf(subjects: readonly LookupSubject[]): string | null {
  return (subjects.find(({ policy }) => policy === 'Inline') ?? subjects[0])?.name ?? null;
}

/**
 * How far apart samples start, in seconds. A process that starts after a pause finds the processor's caches cold, and its lookup takes
 * milliseconds longer. So the modes of a simulation, which make samples wait for different times, all sample at the pace of
 * the slowest.
 */
export function paceOf({ pace }: Pick<LookupSettings, 'pace'>, predictions: readonly (Prediction | null)[]) {
  const predicted = predictions.map((each) => (each === null ? 0 : each.lookupSeconds + each.connectSeconds));
  return pace ?? Math.max(0, ...predicted);
}
