/** Changes Services and EndpointSlices of one namespace, and stops when the API server gets slow: it belongs to others as well. */
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { percentile } from './memory.mjs';

/** One that takes longer than this is given up. */
const ANSWER_SECONDS = 15;
/** Of how many requests the percentile is taken, and of how many at least: one slow request is an accident. */
const WINDOW = 100;
const MIN_REQUESTS = 20;
/** Slices of a page, few enough for a quick answer. */
const PAGE = 100;

/** On the monotonic clock. */
export const now = () => performance.now() / 1000;

/** The API server got slow: nothing more is asked of it. */
export class Slow extends Error {}

/**
 * @param server address of the API server
 * @param tokenFile of the service account; read for each request, because it is renewed
 * @param labels of every Service
 * @param maxP99Seconds what the slowest of a hundred requests may take
 */
export function openServices({ server, tokenFile, caFile, namespace, labels, maxP99Seconds }) {
  const base = new URL(server);
  const isSecure = base.protocol === 'https:';
  const [Agent, request] = isSecure ? [HttpsAgent, requestHttps] : [HttpAgent, requestHttp];
  const ca = caFile === undefined ? undefined : readFileSync(caFile);
  // A connection for each request in flight, and no handshake in any figure but the first ones, which are not counted.
  const agent = new Agent({ keepAlive: true });
  const path = `/api/v1/namespaces/${namespace}/services`;
  const slicePath = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const recent = [];

  function account(seconds) {
    recent.push(seconds);
    if (recent.length > WINDOW) recent.shift();
    if (recent.length < MIN_REQUESTS) return;
    const p99 = percentile(recent, 99);
    if (p99 <= maxP99Seconds) return;
    throw new Slow(
      `99 % of the last ${recent.length} requests took up to ${p99.toFixed(2)} s, more than ${maxP99Seconds} s`,
    );
  }

  const exchange = (method, target, body, type) =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent,
          ca,
          hostname: base.hostname,
          port: base.port,
          path: target,
          method,
          timeout: ANSWER_SECONDS * 1000,
          headers: {
            ...(tokenFile === undefined
              ? {}
              : { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}` }),
            'content-type': type,
          },
        },
        (answer) => {
          const chunks = [];
          answer.on('data', (chunk) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.on('timeout', () =>
        outgoing.destroy(
          new Error(`the API server did not answer ${method} ${target} within ${ANSWER_SECONDS} s`),
        ),
      );
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });

  async function ask(method, target, body, type = 'application/json') {
    const sentAt = now();
    const { status, text } = await exchange(method, target, body, type);
    const confirmedAt = now();
    const isGone = method === 'DELETE' && status === 404;
    if (status >= 300 && !isGone) {
      throw new Error(`the API server answered ${method} ${target} with ${status}: ${text.slice(0, 300)}`);
    }
    account(confirmedAt - sentAt);
    return { sentAt, confirmedAt, text };
  }

  return {
    /** Resolves with both moments, and its address; a headless one takes no address of the cluster's. */
    async create(name, { headless, ports = [{ name: 'http', port: 80 }] }) {
      const { sentAt, confirmedAt, text } = await ask('POST', path, {
        metadata: { name, labels },
        spec: { ports, ...(headless ? { clusterIP: 'None' } : {}) },
      });
      return { sentAt, confirmedAt, address: JSON.parse(text).spec?.clusterIP };
    },
    async remove(name) {
      await ask('DELETE', `${path}/${name}`);
    },
    /** EndpointSlices of headless Services, read page by page. */
    async *headlessSlices() {
      let next = '';
      do {
        const query = `labelSelector=service.kubernetes.io/headless&limit=${PAGE}&continue=${next}`;
        const { metadata, items } = JSON.parse((await ask('GET', `${slicePath}?${query}`)).text);
        yield* items;
        next = encodeURIComponent(metadata.continue ?? '');
      } while (next !== '');
    },
    async replaceEndpoints(slice, endpoints) {
      await ask('PATCH', `${slicePath}/${slice}`, { endpoints }, 'application/merge-patch+json');
    },
  };
}
