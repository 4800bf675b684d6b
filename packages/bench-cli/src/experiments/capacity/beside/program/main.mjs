/**
 * Runs beside CoreDNS in its pod, which shares its process ids: relays its requests to the API server, watches its
 * memory, asks it, makes it read all objects again, and changes some. Needs nothing but Node.js.
 *
 * Settings (environment): PHASES, of `cold-start`, `rest`, `cache`, `load`, `relist`, `replace` and `outage`, with commas, in
 * their order; SECONDS of `rest` and `load`; QUERIES_PER_SECOND of `load`, which goes on until the end, 0 for none;
 * CACHE_NAMES of each kind; LOST_AFTER_MS, after which a query is lost; AWAY_SECONDS of a relist; OUTAGE, seconds;
 * AFTER_LIST_SECONDS; PATIENCE, seconds that phases may take, as JSON; RELAY_PORT; those of `common.mjs`.
 * With CHANGES=true, when answers are right again is measured with Services that are created: `changes.mjs` has its settings.
 * Input: NAMES_FILE (default: names.txt beside this file), names of Services.
 * Output: for each phase one line of JSON, then `{"done":true}`. Exit status 1 after `{"ended":…}` if CoreDNS has ended,
 * `{"late":…}` if a phase took too long, `{"slow":…}` if the API server got slow, `{"failed":…}` if anything else failed.
 */
import { readFileSync } from 'node:fs';
import { openAsker } from './asker.mjs';
import { openChanges } from './changes.mjs';
import {
  DNS,
  Ended,
  isReady,
  Late,
  loadQuestions,
  METRICS_URL,
  missingQuestion,
  numberOf,
  podQuestion,
  print,
  SERVER,
  sleep,
  until,
} from './common.mjs';
import { endCoredns, findCoredns, heapOf, isAlive, watchMemory } from './memory.mjs';
import { startRelay } from './relay.mjs';
import { now, Slow } from './services.mjs';

const { PHASES = '', CHANGES, PATIENCE = '{}' } = process.env;
const SECONDS = numberOf('SECONDS', 20);
const QUERIES_PER_SECOND = numberOf('QUERIES_PER_SECOND', 0);
/** Names are spread over the shards of the cache by their hash: with three times as many as there is room for, each shard is full. */
const CACHE_NAMES = numberOf('CACHE_NAMES', 3 * 9984);
const OUTAGE = numberOf('OUTAGE', 120);
const patience = JSON.parse(PATIENCE);
/** Time for what follows a list: objects are stored, and the first garbage collection. */
const AFTER_LIST_SECONDS = numberOf('AFTER_LIST_SECONDS', 5);
const LAST_FIGURES_SECONDS = 2;
const LIFE_MS = 100;
/** Of a relist. Refused for a second, CoreDNS tries again within some seconds; the longer it is refused, the longer it waits. */
const AWAY_SECONDS = numberOf('AWAY_SECONDS', 1);

const namesFile = process.env.NAMES_FILE ?? new URL('names.txt', import.meta.url);
const services = readFileSync(namesFile, 'utf8').split('\n').filter(Boolean);

const relay = await startRelay({ ...SERVER, port: numberOf('RELAY_PORT', 8001) });
const changes = CHANGES === 'true' ? await openChanges(relay) : null;
let stopLoad;

async function run(onFailure) {
  const pid = await until(findCoredns, 'the start of CoreDNS');
  let allowed = { phase: '', from: now() };
  /** The patience for a phase counts from now. */
  const allow = (phase) => {
    allowed = { phase, from: now() };
  };
  const demandLife = () => {
    if (!isAlive(pid)) throw new Ended('CoreDNS has ended');
    const { phase, from } = allowed;
    if (now() - from > (patience[phase] ?? Number.POSITIVE_INFINITY)) throw new Late(phase);
  };
  setInterval(() => {
    try {
      demandLife();
    } catch (error) {
      onFailure(error);
    }
  }, LIFE_MS);
  const asker = await openAsker(DNS);
  const question = loadQuestions(services);

  /** Until `expected` is right, where changes are made, and everything was read; then for what follows that. */
  async function settle(phase, expected) {
    allow(phase);
    const { from } = allowed;
    const rightAt = expected === undefined ? null : await changes.untilRight(expected);
    await until(() => relay.unread === 0, 'reading everything again');
    await sleep(AFTER_LIST_SECONDS);
    return { rightSeconds: rightAt === null ? null : rightAt - from };
  }

  const phases = {
    async 'cold-start'() {
      const begin = now();
      const first = await changes?.service('first');
      await until(isReady, 'getting ready');
      const readySeconds = now() - begin;
      const rightAt = first === undefined ? null : await changes.untilRight(first);
      await sleep(AFTER_LIST_SECONDS);
      return { readySeconds, rightSeconds: rightAt === null ? null : rightAt - begin };
    },
    async rest() {
      await sleep(SECONDS);
    },
    async cache() {
      await asker.once(podQuestion, CACHE_NAMES);
      await asker.once(missingQuestion, CACHE_NAMES);
      await sleep(AFTER_LIST_SECONDS);
    },
    async load() {
      if (QUERIES_PER_SECOND > 0) stopLoad ??= asker.steadily(question, QUERIES_PER_SECOND);
      await sleep(SECONDS);
    },
    async relist() {
      const before = relay.lists;
      await relay.restart(AWAY_SECONDS);
      const settled = await settle('relist', await changes?.service('relist'));
      return { ...settled, lists: relay.lists - before };
    },
    async replace() {
      allow('');
      return settle('replace', await changes.replace());
    },
    async outage() {
      allow('');
      const back = relay.restart(OUTAGE);
      await sleep(OUTAGE / 2);
      const service = await changes?.service('outage');
      await back;
      return settle('outage', service);
    },
  };
  for (const phase of PHASES.split(',')) {
    const watching = watchMemory(pid, phase === 'cold-start');
    const countsBefore = asker.counts();
    allow(phase);
    const figures = await phases[phase]();
    demandLife();
    const memory = watching.end();
    const queries = Object.entries(asker.counts()).map(([key, value]) => [key, value - countsBefore[key]]);
    print({
      phase,
      seconds: now() - allowed.from,
      ...memory,
      ...figures,
      ...(await heapOf(METRICS_URL)),
      queries: Object.fromEntries(queries),
    });
  }
  allow('');
  await stopLoad?.();
  demandLife();
  print({ done: true, queries: asker.counts(), streamed: relay.streamed });
  asker.close();
  // Meanwhile, the kubelet is asked for the figures of the last phase.
  await sleep(LAST_FIGURES_SECONDS);
}

async function endOf(error) {
  if (error instanceof Ended) return { ended: error.message };
  if (error instanceof Slow) return { slow: error.message };
  if (!(error instanceof Late)) return { failed: error.message };
  // It is not CoreDNS that is late where the API server does not answer.
  await changes?.check();
  // It might not manage to end, either.
  endCoredns('SIGKILL');
  return { late: error.message };
}

const failure = Promise.withResolvers();
const status = await Promise.race([run(failure.reject), failure.promise]).then(
  () => 0,
  async (error) => {
    print(await endOf(error).catch(({ message }) => ({ failed: message })));
    return 1;
  },
);
// The pod ends when both have ended.
endCoredns();
process.exit(status);
