/**
 * The guard: runs in the cluster, in the namespace of the run, and puts back what the journal holds when the run has not
 * renewed its Lease. Then it deletes the namespace, itself included, or waits to be deleted where the namespace is kept. Runs
 * from its sources in any image with Node.js.
 *
 * Settings (environment): LEASE_NAMESPACE; TOKEN and HOLDER of the run; NAMESPACE, its own; KEEP, not empty to keep it.
 * Output: a line for everything that it does. It listens on PORT, and is ready when it has read journal and Lease.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type ApiAnswer, type ApiRequest, bodyOf, type ClusterApi, remove } from './cluster-api.ts';
import { readJournal, type StoredJournal } from './journal.ts';
import { type Lease, readLease, removeLease } from './lease.ts';
import { revertAll } from './restore.ts';
import { isSettled, type TakeOverRequest, takeOver } from './take-over.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const PORT = 8080;
const POLL_MS = 1000;
/** An answer of an API server that has just come back may take some seconds. */
const ANSWER_MS = 10_000;
/** What the guard restores runs again within this time, or it says so and goes on waiting. */
const SETTLE_SECONDS = 600;

const { env } = process;
const LEASE_NAMESPACE = env.LEASE_NAMESPACE ?? '';
const NAMESPACE = env.NAMESPACE ?? '';
const TOKEN = env.TOKEN ?? '';
const HOLDER = env.HOLDER ?? '';
const GUARD = `guard of ${HOLDER}`;

const say = (text: string) => console.log(`${new Date().toISOString()} ${text}`);
const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
const clock = { now: () => new Date(), sleep };

async function send({ method, path, query = {}, body, contentType }: ApiRequest): Promise<ApiAnswer> {
  // Tokens are replaced every hour or so.
  const [token, ca] = await Promise.all([
    readFile(`${ACCOUNT}/token`, 'utf8'),
    readFile(`${ACCOUNT}/ca.crt`, 'utf8'),
  ]);
  const search = new URLSearchParams(query).toString();
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        host: env.KUBERNETES_SERVICE_HOST,
        port: env.KUBERNETES_SERVICE_PORT,
        method,
        path: search === '' ? path : `${path}?${search}`,
        ca,
        headers: {
          Authorization: `Bearer ${token.trim()}`,
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
        },
        timeout: ANSWER_MS,
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: bodyOf(text) }));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_MS} ms`)));
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const api: ClusterApi = { send };

let isArmed = false;
createServer((_request, response) => {
  response.statusCode = isArmed ? 200 : 503;
  response.end();
}).listen(PORT);

/** When the Lease was last seen to change, by this machine's clock: those of others do not matter. */
let seen = { version: '', at: performance.now() };

function isExpired(lease: Lease | null): boolean {
  if (lease === null || lease.holder === GUARD) return true;
  const version = `${lease.holder} ${lease.renewedAt}`;
  if (version !== seen.version) seen = { version, at: performance.now() };
  return performance.now() - seen.at >= lease.durationSeconds * 1000;
}

const takeOverRequest: TakeOverRequest = {
  api,
  clock,
  leaseNamespace: LEASE_NAMESPACE,
  holder: GUARD,
  settleSeconds: SETTLE_SECONDS,
  onReverted: ({ what, object, state, found }) =>
    say(`${state}: ${what} in ${object.title}${found === null ? '' : ` (${found})`}`),
};

/** As it was last read: somebody may delete it with what it holds still in the cluster. */
let known: StoredJournal | null = null;

/** True when nothing is left to do. */
async function look(): Promise<boolean> {
  const lease = await readLease(api, LEASE_NAMESPACE);
  const stored = await readJournal(api, LEASE_NAMESPACE);
  if (!isArmed) say('armed');
  isArmed = true;
  const journal = stored?.journal.token === TOKEN ? stored.journal : null;
  if (journal !== null) known = stored;
  const isOther = journal === null && lease !== null && lease.holder !== HOLDER && lease.holder !== GUARD;
  if (!isExpired(lease) && !isOther) return false;
  if (journal === null && known !== null)
    await revertAll(api, known, takeOverRequest.onReverted, { isGone: true });
  // Another run has begun: this one has ended.
  if (isOther) return true;
  // What others have changed stays in the journal, for people to see.
  if (journal === null || (lease === null && isSettled(journal))) {
    if (lease !== null) await removeLease(api, LEASE_NAMESPACE, lease);
    return true;
  }
  say(`the Lease of ${lease?.holder ?? 'nobody'} has expired: restoring`);
  const outcome = await takeOver(takeOverRequest, { keepFindings: true });
  say(outcome.kind === 'done' ? 'everything is restored' : `somebody else restores (${outcome.kind})`);
  return outcome.kind === 'done';
}

for (let problem = ''; ; await sleep(POLL_MS / 1000)) {
  try {
    if (await look()) break;
    problem = '';
  } catch (error) {
    const next = error instanceof Error ? error.message : String(error);
    if (next !== problem) say(`waiting: ${next}`);
    problem = next;
  }
}
const keeps = (env.KEEP ?? '') !== '';
say(keeps ? 'done: the namespace of the run is kept, as asked' : 'done: deleting the namespace of the run');
// While it is kept, the server above keeps this process.
while (!keeps) {
  await remove(api, `/api/v1/namespaces/${NAMESPACE}`).catch((error) => say(String(error)));
  // The namespace takes this process with it.
  await sleep(60);
}
