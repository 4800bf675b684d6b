/** What the programs beside CoreDNS share: their settings from the environment, how they wait, and what they print. */
const { API_SERVER, KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = process.env;

export const {
  DOMAIN = 'cluster.local',
  NAMESPACE = 'default',
  READY_URL = 'http://127.0.0.1:8181/ready',
  METRICS_URL = 'http://127.0.0.1:9153/metrics',
} = process.env;
export const numberOf = (name, missing) => Number(process.env[name] ?? missing);
export const DNS = { address: '127.0.0.1', port: numberOf('DNS_PORT', 5353) };
export const PODS_VERIFIED = process.env.PODS_VERIFIED === 'true';

/** The API server, by default that of the pod's cluster. */
export const SERVER = {
  server: API_SERVER ?? `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
  tokenFile: process.env.TOKEN_FILE,
  caFile: process.env.CA_FILE,
};

/** CoreDNS may take so long to start, to get ready, and to read everything again. */
const READY_SECONDS = numberOf('READY_SECONDS', 120);

export const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, Math.max(0, seconds) * 1000));
export const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** What stops everything: CoreDNS has ended, or takes too long. */
export class Ended extends Error {}
export class Late extends Error {}

/** Resolves with the first result that is not false. */
export async function until(condition, what) {
  const end = performance.now() + READY_SECONDS * 1000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (performance.now() > end) throw new Error(`${what} took more than ${READY_SECONDS} s`);
    await sleep(0.02);
  }
}

export const isReady = async () => (await fetch(READY_URL).catch(() => null))?.ok === true;

const NOERROR = 0;
const NXDOMAIN = 3;

/** An address of 198.18.0.0/15, which is set aside for benchmarks. After 131,072 they repeat. */
export const addressOf = (n) => [198, 18 + ((n >> 16) & 1), (n >> 8) & 255, n & 255].join('.');
export const dashed = (address) => address.replaceAll('.', '-');

/** Any address has a name with `pods insecure`, for as many positive answers as are wanted; with `pods verified`, few have. */
export const podQuestion = (n) => ({
  name: `${dashed(addressOf(n))}.${NAMESPACE}.pod.${DOMAIN}`,
  type: 'A',
  code: PODS_VERIFIED ? null : NOERROR,
});
export const missingQuestion = (n) => ({
  name: `missing-${n}.${NAMESPACE}.svc.${DOMAIN}`,
  type: 'A',
  code: NXDOMAIN,
});

/** As many as names of Services that are asked for. */
const LOAD_NAMES = 1000;

/** The Services by turns; without any, as few other names, so that it is as much work for CoreDNS. */
export const loadQuestions = (services) => (n) =>
  services.length === 0
    ? podQuestion(n % LOAD_NAMES)
    : { name: services[n % services.length] ?? '', type: 'A', code: NOERROR };
