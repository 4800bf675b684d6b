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

/** Three clients of the Service; after a second and a half, only two go on. */
const clients = (service: string) => `
  const { createSocket } = require('node:dgram');
  const sockets = [0, 1, 2].map(() => createSocket('${service.includes(':') ? 'udp6' : 'udp4'}').on('error', () => {}));
  let sent = 0;
  setInterval(() => {
    sent += 1;
    for (const [index, socket] of sockets.entries())
      if (index < 2 || sent < 15) socket.send('x', 53, '${service}', () => {});
  }, 100);
`;

it.each(SERVICES)(
  'tells which entries of $service lead to $pod, and which of them are used',
  async ({ service, pod }) => {
    const children = [['-e', clients(service)], [program]].map((args) =>
      spawn('ip', [...inside, process.execPath, ...args], {
        env: { ...process.env, SERVICE: service },
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    try {
      const seen: unknown[] = [];
      for await (const line of createInterface({ input: children[1]?.stdout ?? process.stdin })) {
        seen.push(JSON.parse(line).pods[pod]);
        if (seen.length === 5) break;
      }
      expect(seen[0]).toEqual({ entries: 3, used: 3 });
      expect(seen.at(-1)).toEqual({ entries: 3, used: 2 });
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => new Promise((resolve) => child.once('close', resolve))));
    }
  },
);
