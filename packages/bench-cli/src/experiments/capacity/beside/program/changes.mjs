/** Changes of a cluster while CoreDNS watches it: a new Service, endpoints with other addresses; and what is right from then on. */
import { addressOf, DNS, DOMAIN, dashed, NAMESPACE, numberOf, SERVER, sleep } from './common.mjs';
import { openPoller } from './poller.mjs';
import { now, openServices } from './services.mjs';

const { PREFIX = 'new', LABELS = '{}' } = process.env;
const REPLACED = numberOf('REPLACED', 0);
const FIRST_ADDRESS = numberOf('FIRST_ADDRESS', 0);

/**
 * Asked for one after the other: each again only after 46 s, when no cache has it any more (30 s). Between two, a tenth of the
 * time so far, so that it is known to a tenth.
 */
const NAMES = 48;
const POLL_SECONDS = 0.125;
const POLL_SHARE = 0.1;
/** Of an API server that belongs to others, as for all objects of bench. */
const CHANGES_PER_SECOND = 50;
/** Nothing is asked for twice in a row. */
const NEVER_MS = 86_400_000;
/** The last change reaches the relay. */
const ARRIVAL_SECONDS = 1;

/** What these names, for which nobody else asks, resolve to. */
const expectedOf = (members, service) => ({
  names: members.map(({ label, of = service }) => `${label}.${of}.${NAMESPACE}.svc.${DOMAIN}`),
  addresses: members.map(({ address }) => address),
});

export async function openChanges(relay) {
  // A healthy API server's objective (Kubernetes SLO).
  const services = openServices({
    ...SERVER,
    namespace: NAMESPACE,
    labels: JSON.parse(LABELS),
    maxP99Seconds: 1,
  });
  const poller = await openPoller(DNS);
  return {
    /** Creates a Service: each of its ports is a name of its own. */
    async service(name) {
      const ports = Array.from({ length: NAMES }, (_, n) => ({ name: `p${n}`, port: n + 1 }));
      const { address } = await services.create(`${PREFIX}-${name}`, { headless: false, ports });
      const members = ports.map((port) => ({ label: `_${port.name}._tcp`, address }));
      return expectedOf(members, `${PREFIX}-${name}`);
    },
    /** Replaces endpoints. All of it reaches CoreDNS at once, however long the changes took. */
    async replace() {
      relay.hold();
      const replaced = [];
      let count = 0;
      for await (const { metadata, endpoints } of services.headlessSlices()) {
        if (count >= REPLACED) break;
        const dueAt = now() + 1 / CHANGES_PER_SECOND;
        const of = metadata.labels['kubernetes.io/service-name'];
        const others = (endpoints ?? []).map((endpoint, at) => ({
          ...endpoint,
          addresses: [addressOf(FIRST_ADDRESS + count + at)],
        }));
        if (others.length === 0) continue;
        await services.replaceEndpoints(metadata.name, others);
        count += others.length;
        for (const { hostname, addresses } of others) {
          const [address] = addresses;
          replaced.push({ label: hostname ?? dashed(address), address, of });
        }
        await sleep(dueAt - now());
      }
      await sleep(ARRIVAL_SECONDS);
      relay.release();
      return expectedOf(replaced.slice(-NAMES));
    },
    /** Resolves with the moment when one of the names was right; null where there are none. */
    async untilRight({ names, addresses }) {
      const begin = now();
      for (let attempt = 0; names.length > 0; attempt += 1) {
        const watching = poller.watch(names[attempt % names.length], NEVER_MS, addresses);
        const gapSeconds = Math.max(POLL_SECONDS, POLL_SHARE * (now() - begin));
        const { answeredAt } = await watching.until(now() + gapSeconds);
        if (answeredAt !== null) return answeredAt;
      }
      return null;
    },
    /** Rejects where the API server does not answer. */
    check: () => services.remove(`${PREFIX}-check`),
  };
}
