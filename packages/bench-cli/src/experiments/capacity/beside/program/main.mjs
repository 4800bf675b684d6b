/**
 * Runs beside CoreDNS in its pod, which shares its process ids: relays its requests to the API server, watches its
 * memory, asks it, and makes it read all objects again. Needs nothing but Node.js.
 *
 * Settings (environment): PHASES, of `cold-start`, `rest`, `cache`, `load` and `relist`, with commas, in their order;
 * SECONDS of `rest` and `load`; QUERIES_PER_SECOND of `load`, which goes on until the end, 0 for none; CACHE_NAMES of
 * each kind; DOMAIN, NAMESPACE; TOKEN_FILE and CA_FILE; API_SERVER (default: the pod's cluster); PID of CoreDNS (default:
 * the process of this name); RELAY_PORT, DNS_PORT, READY_URL, METRICS_URL.
 * Input: NAMES_FILE (default: names.txt beside this file), names of Services.
 * Output: for each phase one line of JSON, then `{"done":true}`. Exit status 1 after `{"ended":…}` if CoreDNS has ended.
 */
import { readFileSync } from 'node:fs';
import { openAsker } from './asker.mjs';
import { endCoredns, findCoredns, heapOf, isAlive, watchMemory } from './memory.mjs';
import { startRelay } from './relay.mjs';

const {
  PHASES = '',
  DOMAIN = 'cluster.local',
  NAMESPACE = 'default',
  API_SERVER,
  KUBERNETES_SERVICE_HOST: host = '',
  KUBERNETES_SERVICE_PORT: apiPort = '443',
  TOKEN_FILE,
  CA_FILE,
  READY_URL = 'http://127.0.0.1:8181/ready',
  METRICS_URL = 'http://127.0.0.1:9153/metrics',
} = process.env;
const numberOf = (name, missing) => Number(process.env[name] ?? missing);
const SECONDS = numberOf('SECONDS', 20);
const QUERIES_PER_SECOND = numberOf('QUERIES_PER_SECOND', 0);
const CACHE_NAMES = numberOf('CACHE_NAMES', 9984);
const PODS_VERIFIED = process.env.PODS_VERIFIED === 'true';
const READY_SECONDS = numberOf('READY_SECONDS', 120);
/** Time for what follows a list: objects are stored, and the first garbage collection. */
const AFTER_LIST_SECONDS = 5;
const LAST_FIGURES_SECONDS = 2;
/** Refused for a second, CoreDNS tries again within some seconds; the longer it is refused, the longer it waits. */
const AWAY_SECONDS = 1;

const NOERROR = 0;
const NXDOMAIN = 3;

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const namesFile = process.env.NAMES_FILE ?? new URL('names.txt', import.meta.url);
const services = readFileSync(namesFile, 'utf8').split('\n').filter(Boolean);
const serviceQuestion = (n) => ({ name: services[n % services.length] ?? '', type: 'A', code: NOERROR });
/** Any address has a name with `pods insecure`, for as many positive answers as are wanted; with `pods verified`, few have. */
const podQuestion = (n) => {
  const address = [198, 18 + ((n >> 16) & 1), (n >> 8) & 255, n & 255].join('-');
  return { name: `${address}.${NAMESPACE}.pod.${DOMAIN}`, type: 'A', code: PODS_VERIFIED ? null : NOERROR };
};
const missingQuestion = (n) => ({
  name: `missing-${n}.${NAMESPACE}.svc.${DOMAIN}`,
  type: 'A',
  code: NXDOMAIN,
});

/** What stops everything: CoreDNS has ended. */
class Ended extends Error {}

async function until(condition, seconds, what) {
  const end = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} took more than ${seconds} s`);
    await sleep(0.02);
  }
}

const relay = await startRelay({
  server: API_SERVER ?? `https://${host.includes(':') ? `[${host}]` : host}:${apiPort}`,
  tokenFile: TOKEN_FILE,
  caFile: CA_FILE,
  port: numberOf('RELAY_PORT', 8001),
});
let stopLoad;

async function run() {
  const begin = Date.now();
  let found = null;
  await until(
    () => {
      found ??= findCoredns();
      return found !== null;
    },
    READY_SECONDS,
    'the start of CoreDNS',
  );
  const pid = found;
  const demandLife = () => {
    if (!isAlive(pid)) throw new Ended('CoreDNS has ended');
  };
  /** Waits, but no longer than CoreDNS lives. */
  const wait = async (seconds) => {
    const end = Date.now() + seconds * 1000;
    while (Date.now() < end) {
      demandLife();
      await sleep(0.1);
    }
  };
  const asker = await openAsker({ address: '127.0.0.1', port: numberOf('DNS_PORT', 5353) });
  const question = services.length > 0 ? serviceQuestion : podQuestion;

  const phases = {
    async 'cold-start'() {
      await until(
        async () => {
          demandLife();
          return (await fetch(READY_URL).catch(() => null))?.ok === true;
        },
        READY_SECONDS,
        'getting ready',
      );
      const readySeconds = (Date.now() - begin) / 1000;
      await wait(AFTER_LIST_SECONDS);
      return { readySeconds };
    },
    async rest() {
      await wait(SECONDS);
      return {};
    },
    async cache() {
      await asker.once(podQuestion, CACHE_NAMES, demandLife);
      await asker.once(missingQuestion, CACHE_NAMES, demandLife);
      await wait(AFTER_LIST_SECONDS);
      return {};
    },
    async load() {
      if (QUERIES_PER_SECOND > 0) stopLoad ??= asker.steadily(question, QUERIES_PER_SECOND);
      await wait(SECONDS);
      return {};
    },
    async relist() {
      const before = relay.lists;
      const expected = await relay.restart(AWAY_SECONDS);
      await until(
        () => {
          demandLife();
          return relay.lists >= before + expected;
        },
        READY_SECONDS,
        'reading everything again',
      );
      await wait(AFTER_LIST_SECONDS);
      return { lists: relay.lists - before };
    },
  };
  for (const phase of PHASES.split(',')) {
    const watching = watchMemory(pid, phase === 'cold-start');
    const countsBefore = asker.counts();
    const figures = await phases[phase]();
    const memory = watching.end();
    const queries = Object.entries(asker.counts()).map(([key, value]) => [key, value - countsBefore[key]]);
    print({
      phase,
      ...memory,
      ...figures,
      ...(await heapOf(METRICS_URL)),
      queries: Object.fromEntries(queries),
    });
  }
  await stopLoad?.(demandLife);
  demandLife();
  print({ done: true, queries: asker.counts() });
  asker.close();
  // Meanwhile, the kubelet is asked for the figures of the last phase.
  await sleep(LAST_FIGURES_SECONDS);
  // The pod ends when both have ended.
  endCoredns();
}

try {
  await run();
  process.exit(0);
} catch (error) {
  print(error instanceof Ended ? { ended: error.message } : { failed: error.message });
  endCoredns();
  process.exit(1);
}
