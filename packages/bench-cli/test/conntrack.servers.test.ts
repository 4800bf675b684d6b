/** The reader of the connection tracking, in a network namespace where Services lead to pods as kube-proxy makes them. */
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileNeeds, namespaceName } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';

const { it } = fileNeeds('ip', 'iptables', 'root');

const run = promisify(execFile);
const name = namespaceName('tracked');
const inside = ['netns', 'exec', name];
const program = fileURLToPath(new URL('../src/targets/kubernetes/conntrack-program.mjs', import.meta.url));

/** Kernel and Kubernetes write the second one differently. */
const SERVICES = [
  { tables: 'iptables', service: '10.96.0.10', pod: '10.244.0.7', to: '10.244.0.7:53' },
  { tables: 'ip6tables', service: 'fd00:96::a', pod: 'fd00:244::7', to: '[fd00:244::7]:53' },
] as const;

beforeAll(async () => {
  await run('ip', ['netns', 'add', name]);
  await run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  for (const { tables, service, pod, to } of SERVICES) {
    const isV6 = service.includes(':');
    for (const address of [service, pod])
      await run('ip', ['-n', name, 'addr', 'add', `${address}/${isV6 ? 128 : 32}`, 'dev', 'lo']);
    const rule = ['-A', 'OUTPUT', '-p', 'udp', '-d', service, '--dport', '53'];
    await run('ip', [...inside, tables, '-t', 'nat', ...rule, '-j', 'DNAT', '--to-destination', to]);
  }
});
afterAll(() => run('ip', ['netns', 'del', name]));

/** Three clients of the Service; when they are told, only two go on. */
const clients = (service: string) => `
  const { createSocket } = require('node:dgram');
  const sockets = [0, 1, 2].map(() => createSocket('${service.includes(':') ? 'udp6' : 'udp4'}').on('error', () => {}));
  let isTold = false;
  process.stdin.once('data', () => {
    isTold = true;
  });
  setInterval(() => {
    for (const [index, socket] of sockets.entries())
      if (index < 2 || !isTold) socket.send('x', 53, '${service}', () => {});
  }, 100);
`;

it.each(SERVICES)(
  'tells which entries of $service lead to $pod, and which of them are used',
  async ({ service, pod }) => {
    const start = (...args: readonly string[]) =>
      spawn('ip', [...inside, process.execPath, ...args], {
        env: { ...process.env, SERVICE: service },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
    const [sending, reading] = [start('-e', clients(service)), start(program)];
    const children = [sending, reading];
    try {
      const seen: unknown[] = [];
      // A busy machine may start one of them late, and send nothing for a second.
      for await (const line of createInterface({ input: reading.stdout })) {
        const found = JSON.parse(line).pods[pod];
        if (found?.used !== (seen.length === 0 ? 3 : 2)) continue;
        seen.push(found);
        if (seen.length === 2) break;
        sending.stdin.write('two go on\n');
      }
      expect(seen).toEqual([
        { entries: 3, used: 3 },
        { entries: 3, used: 2 },
      ]);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => new Promise((resolve) => child.once('close', resolve))));
    }
  },
);
