/**
 * Runs beside CoreDNS in its pod, which shares its process ids: creates Services in the pod's namespace, one after the other,
 * and asks CoreDNS for each until it resolves, while other Services are created and deleted. All moments are read on the one
 * clock of this process. Needs nothing but Node.js.
 *
 * Settings (environment): CHURN, changes a second, with commas, in their order; SERVICES of each; POLL_MS; TIMEOUT_SECONDS;
 * MAX_P99_SECONDS of the API server's requests; DOMAIN, NAMESPACE; PREFIX of the names of Services, and their LABELS as JSON;
 * TOKEN_FILE and CA_FILE; API_SERVER (default: the pod's cluster); PID of CoreDNS (default: the process of this name);
 * DNS_PORT, READY_URL.
 * Output: a line of JSON for each Service, and one after each rate; `{"done":true}` at the end. Exit status 1 after
 * `{"ended":…}` if CoreDNS has ended, `{"slow":…}` if the API server got slow, and `{"failed":…}` if anything else failed.
 */
import { startChurn } from './churn.mjs';
import { DNS, DOMAIN, Ended, isReady, NAMESPACE, numberOf, print, SERVER, sleep, until } from './common.mjs';
import { endCoredns, findCoredns, isAlive } from './memory.mjs';
import { openPoller } from './poller.mjs';
import { now, openServices, Slow } from './services.mjs';

const { CHURN = '0', PREFIX = 'new', LABELS = '{}' } = process.env;
const SERVICES = numberOf('SERVICES', 100);
const POLL_MS = numberOf('POLL_MS', 1);
const TIMEOUT_SECONDS = numberOf('TIMEOUT_SECONDS', 30);

/** Not counted: the first answers of a start take longer, and connections are made. */
const WARMUP_SERVICES = 3;
/** A new Service begins no sooner after the one before: with their deletions, 10 changes a second. */
const SERVICE_SECONDS = 0.2;
/** Asked for before it is created; varied, so that it does not go in step with the churn. */
const LEAD_MS = 10;
const VARIED_MS = 7;
/** Looks after CoreDNS. */
const LIFE_MS = 250;

const services = openServices({
  ...SERVER,
  namespace: NAMESPACE,
  labels: JSON.parse(LABELS),
  // A healthy API server's objective (Kubernetes SLO).
  maxP99Seconds: numberOf('MAX_P99_SECONDS', 1),
});

/** Creates a Service, asks for it until it resolves, and deletes it. */
async function observe(poller, name, index) {
  const watching = poller.watch(`${name}.${NAMESPACE}.svc.${DOMAIN}`, POLL_MS);
  await sleep((LEAD_MS + (index % VARIED_MS)) / 1000);
  const { sentAt, confirmedAt, address } = await services.create(name, { headless: false });
  const { answeredAt, lastWrongSentAt, queries, ...seen } = await watching.until(now() + TIMEOUT_SECONDS);
  await services.remove(name);
  if (answeredAt === null) return { delaySeconds: null, queries };
  if (seen.address !== address) throw new Error(`${name} resolved to ${seen.address}, but has ${address}`);
  const delaySeconds = answeredAt - sentAt;
  return {
    delaySeconds,
    // It cannot have resolved before it was created.
    resolutionSeconds: Math.min(delaySeconds, answeredAt - (lastWrongSentAt ?? sentAt)),
    creationSeconds: confirmedAt - sentAt,
    queries,
  };
}

async function measureRate(poller, perSecond, number, onFailure) {
  const churn = startChurn({ services, perSecond, prefix: `${PREFIX}-churn-${number}`, onFailure });
  let begin = now();
  let before = 0;
  for (let index = -WARMUP_SERVICES; index < SERVICES; index += 1) {
    if (index === 0) [begin, before] = [now(), churn.done];
    const startedAt = now();
    const name = `${PREFIX}-${number}-${index < 0 ? 'warm' : ''}${Math.abs(index)}`;
    const service = await observe(poller, name, Math.abs(index));
    if (index >= 0) print({ service });
    await sleep(startedAt + SERVICE_SECONDS - now());
  }
  print({ churn: perSecond, heldChurnPerSecond: (churn.done - before) / (now() - begin) });
  await churn.stop();
}

async function run(onFailure) {
  const pid = await until(findCoredns, 'the start of CoreDNS');
  setInterval(() => {
    if (!isAlive(pid)) onFailure(new Ended('CoreDNS has ended'));
  }, LIFE_MS);
  await until(isReady, 'getting ready');
  const poller = await openPoller(DNS);
  for (const [number, rate] of CHURN.split(',').map(Number).entries()) {
    await measureRate(poller, rate, number, onFailure);
  }
  print({ done: true });
}

function lineOf(error) {
  if (error instanceof Ended) return { ended: error.message };
  return error instanceof Slow ? { slow: error.message } : { failed: error.message };
}

const failure = Promise.withResolvers();
const status = await Promise.race([run(failure.reject), failure.promise]).then(
  () => 0,
  (error) => {
    print(lineOf(error));
    return 1;
  },
);
// The pod ends when both have ended.
endCoredns();
process.exit(status);
