/**
 * A stand-in for what puts values back: an operator, or a managed add-on. Every second it compares values with what they
 * should be. Needs nothing but Node.js.
 *
 * Settings (environment): RULES, a JSON list of { path, pointer, value }; PAUSE, the path of a resource whose
 * `spec.managementState` of `Unmanaged` makes it do nothing.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const {
  RULES = '[]',
  PAUSE = '',
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
} = process.env;
const rules = JSON.parse(RULES);

function send(method, path, body) {
  const headers = {
    Authorization: `Bearer ${readFileSync(`${ACCOUNT}/token`, 'utf8')}`,
    'Content-Type': 'application/json-patch+json',
  };
  return new Promise((resolve, reject) => {
    const options = { host, port, method, path, headers, ca: readFileSync(`${ACCOUNT}/ca.crt`) };
    const sent = request(options, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      // What is not served at all is no object: the answer is text.
      answer.on('end', () => {
        const status = answer.statusCode;
        resolve({ status, object: status === 200 ? JSON.parse(text) : undefined });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const valueAt = (object, pointer) =>
  pointer
    .split('/')
    .slice(1)
    .reduce((value, key) => value?.[key], object);

async function reconcile() {
  if (PAUSE !== '') {
    const { object } = await send('GET', PAUSE);
    if (object?.spec?.managementState === 'Unmanaged') return;
  }
  for (const { path, pointer, value } of rules) {
    const { status, object } = await send('GET', path);
    if (status !== 200 || valueAt(object, pointer) === value) continue;
    console.log(`${path}${pointer}: ${valueAt(object, pointer)} → ${value}`);
    await send('PATCH', path, [{ op: 'replace', path: pointer, value }]);
  }
}

for (;;) {
  await reconcile().catch((error) => console.log(String(error)));
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
