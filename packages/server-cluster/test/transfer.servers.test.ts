/** BIND, NSD and Knot DNS as secondaries: they transfer a zone from us, and then answer as we do. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conformancePage, needs, pathOf } from '@dinodns-bench/test-support';
import { encodeOpt } from '@dinodns-bench/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, framed, opt, query, RCODE, sendTcp, TcpClient } from './support/client.ts';
import { freePort, killAll, type RunningServer, startServer, until } from './support/server-process.ts';

const HOSTS = 3000;
let directory: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'transfer-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((done) => child.once('exit', done));
  }
  await killAll();
  rmSync(directory, { recursive: true, force: true });
});

const ZONE = `$TTL 60
@ SOA ns.other. host.other. 7 7200 3600 1209600 300
@ NS ns.other.
@ MX 10 mail
mail A 192.0.2.25
*.wild TXT "any name"
alias CNAME mail
old DNAME other.example.
odd TYPE65280 \\# 3 010203
sub NS ns.sub
ns.sub A 192.0.2.53
long TXT "${'a'.repeat(255)}" "${'b'.repeat(255)}"
${Array.from({ length: HOSTS }, (_, index) => `h${index} A 10.0.${index >> 8}.${index & 255}\n`).join('')}`;

function startPrimary(...args: string[]): Promise<RunningServer> {
  const file = join(directory, 'primary.zone');
  writeFileSync(file, ZONE);
  return startServer(['--zone', `example.=${file}`, ...args]);
}

function dig(port: number, ...question: string[]): string {
  const args = ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=3', ...question];
  return spawnSync(pathOf('dig'), args, { encoding: 'utf8' }).stdout;
}

test('a transfer contains every record once and the SOA record twice', needs('dig'), async () => {
  const { ready } = await startPrimary('--allow-transfer', '192.0.2.0/24,127.0.0.1');
  const lines = dig(ready.port, 'example.', 'AXFR', '+noall', '+answer').trim().split('\n');
  const sources = ZONE.trim().split('\n').length - 1;
  expect(lines).toHaveLength(sources + 1);
  expect(lines[0]).toBe(lines.at(-1));
  expect(new Set(lines).size).toBe(sources);
  expect(dig(ready.port, 'none.example.', 'AXFR')).toContain('Transfer failed');
});

test('the messages of a transfer have an OPT record if the query had one', async () => {
  const { ready } = await startPrimary('--allow-transfer', '127.0.0.1');
  const replyTo = (additionals: ReturnType<typeof opt>[]) =>
    sendTcp(ready, query('example', 'AXFR', { additionals }));
  const plain = await replyTo([]);
  const extended = await replyTo([opt(1232, { flags: 0x8000 })]);
  expect(plain?.readUInt16BE(10)).toBe(0);
  expect(extended?.readUInt16BE(10)).toBe(1);
  expect(extended?.subarray(2, 10)).toEqual(plain?.subarray(2, 10));
  expect(extended?.subarray(12)).toEqual(
    Buffer.concat([plain?.subarray(12) ?? Buffer.of(), encodeOpt({ dnssecOk: true })]),
  );
  // The cookie of a server follows the client's own.
  const data = Buffer.from('2464c4abcf10c957', 'hex');
  const known = await replyTo([opt(1232, { options: [{ code: 10, data }] })]);
  expect(known?.subarray(-24, -16)).toEqual(data);
});

test(
  'an IXFR gets the SOA record alone if the client is up to date, else the whole zone',
  needs('dig'),
  async () => {
    const { ready } = await startPrimary('--allow-transfer', '127.0.0.1');
    const lines = (serial: number) =>
      dig(ready.port, 'example.', `IXFR=${serial}`, '+noall', '+answer').trim().split('\n');
    // The zone's serial is 7; 4294967295 comes before it (RFC 1982).
    expect(lines(7)).toHaveLength(1);
    expect(lines(8)).toHaveLength(1);
    expect(lines(7)[0]).toContain('SOA');
    const all = dig(ready.port, 'example.', 'AXFR', '+noall', '+answer').trim().split('\n');
    expect(lines(6)).toEqual(all);
    expect(lines(4_294_967_295)).toEqual(all);
  },
);

test('at a zone cut, parent and child transfer what each holds', needs('dig'), async () => {
  const parent = join(directory, 'parent.zone');
  const child = join(directory, 'child.zone');
  const head = '$TTL 60\n@ SOA ns host 7 7200 3600 1209600 300\n@ NS ns\n';
  writeFileSync(
    parent,
    `${head}ns A 192.0.2.1\nsub NS ns.sub\nsub NS ns\nns.sub A 192.0.2.2\nold.sub A 192.0.2.3\n`,
  );
  writeFileSync(child, `${head}ns A 192.0.2.4\nwww A 192.0.2.5\n`);
  const zones = ['--zone', `sub.example.=${child}`, '--zone', `example.=${parent}`];
  const { ready } = await startServer([...zones, '--allow-transfer', '127.0.0.1']);
  const records = (zone: string) =>
    dig(ready.port, zone, 'AXFR', '+noall', '+answer')
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split(/\s+/)
          .filter((_, field) => [0, 3, 4].includes(field))
          .join(' '),
      )
      .filter((line) => !line.includes('SOA'))
      .sort();
  expect(records('example.')).toEqual([
    'example. NS ns.example.',
    'ns.example. A 192.0.2.1',
    'ns.sub.example. A 192.0.2.2',
    'old.sub.example. A 192.0.2.3',
    'sub.example. NS ns.example.',
    'sub.example. NS ns.sub.example.',
  ]);
  expect(records('sub.example.')).toEqual([
    'ns.sub.example. A 192.0.2.4',
    'sub.example. NS ns.sub.example.',
    'www.sub.example. A 192.0.2.5',
  ]);
});

test('a client that asks for many transfers at once gets one after the other', async () => {
  const server = await startPrimary('--allow-transfer', '127.0.0.1');
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  const client = new TcpClient(server.ready);
  client.socket.write(Buffer.concat(ids.map((id) => framed(query('example', 'AXFR', { id })))));
  const isLast = () => client.messages.filter((message) => message.readUInt16BE(0) === ids.length).length > 1;
  expect(await until(isLast, 15)).toBe(true);
  const got = client.messages.map((message) => message.readUInt16BE(0));
  expect(got.length).toBeGreaterThan(2 * ids.length);
  expect(got).toEqual(got.toSorted((one, other) => one - other));
  // Such as that too many listeners wait for the connection.
  expect(server.stderr).toBe('');
  client.socket.destroy();
});

test('zone transfers are refused unless allowed', needs('dig'), async () => {
  const { ready } = await startPrimary();
  expect((await ask('tcp', ready, 'example', 'AXFR')).rcode).toBe(RCODE.REFUSED);
  const other = await startPrimary('--allow-transfer', '192.0.2.1');
  expect((await ask('tcp', other.ready, 'example', 'AXFR')).rcode).toBe(RCODE.REFUSED);
  expect((await ask('udp', other.ready, 'example', 'AXFR')).rcode).toBe(RCODE.REFUSED);
});

const QUESTIONS = [
  ['example.', 'SOA'],
  ['example.', 'MX'],
  ['mail.example.', 'A'],
  ['x.y.wild.example.', 'TXT'],
  ['alias.example.', 'A'],
  ['below.old.example.', 'A'],
  ['odd.example.', 'TYPE65280'],
  ['host.sub.example.', 'A'],
  ['long.example.', 'TXT'],
  ['none.example.', 'A'],
  ['mail.example.', 'AAAA'],
  ...Array.from({ length: 50 }, (_, index) => [`h${index * 60}.example.`, 'A']),
];

test('docs/conformance.md says how many questions there are', () => {
  expect(conformancePage()).toContain(`${QUESTIONS.length} questions to each of the three`);
});

/** Response code and answer section for each of the questions: what servers agree on. */
function answersOf(port: number): string[] {
  const options = ['+noall', '+comments', '+answer', '+norec', '+tcp'];
  const replies = dig(port, ...options, ...QUESTIONS.flat())
    .split(';; ->>HEADER<<-')
    .slice(1);
  return replies.map((text, index) => {
    const status = /status: (\w+)/.exec(text)?.[1];
    const [, answer = ''] = /ANSWER SECTION:\n((?:[^;\n].*\n)*)/.exec(text) ?? [];
    const lines = answer.toLowerCase().trim().split('\n').sort();
    return [QUESTIONS[index]?.join(' '), status, ...lines].join('\n');
  });
}

interface Secondary {
  readonly args: (config: string) => readonly string[];
  readonly config: (port: number, primary: number) => string;
}

const SECONDARIES = {
  named: {
    args: (config) => ['-g', '-n', '1', '-c', config],
    config: (
      port,
      primary,
    ) => `options { directory "${directory}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; pid-file none; minimal-responses yes; };
controls { };
zone "example" { type secondary; file "secondary.zone"; masterfile-format text; primaries { 127.0.0.1 port ${primary}; }; };\n`,
  },
  nsd: {
    args: (config) => ['-d', '-c', config],
    config: (
      port,
      primary,
    ) => `server:\n  ip-address: 127.0.0.1@${port}\n  username: ""\n  zonesdir: "${directory}"\n  database: ""
  pidfile: "${directory}/nsd.pid"\n  xfrdfile: "${directory}/xfrd.state"\n  zonelistfile: "${directory}/zone.list"
  xfrdir: "${directory}"\n  minimal-responses: yes\n  server-count: 1\nremote-control:\n  control-enable: no
zone:\n  name: example\n  zonefile: secondary.zone\n  request-xfr: AXFR 127.0.0.1@${primary} NOKEY\n`,
  },
  knotd: {
    args: (config) => ['-c', config],
    config: (
      port,
      primary,
    ) => `server:\n  listen: 127.0.0.1@${port}\n  rundir: ${directory}\ndatabase:\n  storage: ${directory}
remote:\n- id: primary\n  address: 127.0.0.1@${primary}
zone:\n- domain: example\n  storage: ${directory}\n  master: primary\n`,
  },
} satisfies Record<string, Secondary>;

test.each(['named', 'nsd', 'knotd'] as const)(
  '%s loads what we serve and answers the same',
  { timeout: 90_000, ...needs('named', 'nsd', 'knotd', 'dig') },
  async (name) => {
    const { ready } = await startPrimary('--allow-transfer', '127.0.0.1');
    const port = await freePort();
    const config = join(directory, `${name}.conf`);
    writeFileSync(config, SECONDARIES[name].config(port, ready.port));
    const log = join(directory, 'log');
    const shell = `exec ${pathOf(name)} ${SECONDARIES[name].args(config).join(' ')} >${log} 2>&1`;
    children.push(spawn('/bin/sh', ['-c', shell], { stdio: 'ignore' }));
    const isLoaded = () => dig(port, 'example.', 'SOA', '+norec').includes('status: NOERROR');
    expect(await until(isLoaded, 60), readFileSync(log, 'utf8')).toBe(true);
    const own = answersOf(ready.port);
    expect(own).toHaveLength(QUESTIONS.length);
    expect(answersOf(port)).toEqual(own);
  },
);
