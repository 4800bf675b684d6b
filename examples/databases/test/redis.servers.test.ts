/** Records in Redis, and what a Redis server and a connection to it can do to a server. Also a file system that is full. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileNeeds, pathOf } from '@dinodns-bench/test-support';
import { createClient } from 'redis';
import { expect } from 'vitest';
import { describesAnApplication } from './contract.ts';
import {
  afterwards,
  checkWithBench,
  expectRcode,
  FILL,
  fill,
  manyZones,
  start,
  startApp,
  temporaryDirectory,
  writeZones,
} from './support.ts';

const { describe, it } = fileNeeds('redis-server');

/** Redis with a socket in `directory`, answering. */
async function startRedis(directory: string) {
  const socket = join(directory, 'redis.sock');
  const server = start([
    ...[pathOf('redis-server'), '--port', '0', '--unixsocket', socket],
    ...['--save', '', '--dir', directory],
  ]);
  const client = createClient({ socket: { path: socket, reconnectStrategy: 20 } });
  client.on('error', () => undefined);
  await client.connect();
  afterwards(() => client.destroy());
  return { server, client, store: `redis:${socket}` };
}

const seconds = async (run: () => Promise<unknown>) => {
  const from = performance.now();
  await run();
  return (performance.now() - from) / 1000;
};

async function startFilled(count = 2) {
  const directory = temporaryDirectory();
  const redis = await startRedis(directory);
  const zones = writeZones(directory, manyZones(count, '192.0.2.1'));
  const app = await startApp(redis.store, '--zones', zones);
  expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR' });
  return { ...redis, directory, zones, app };
}

describe('an application with Redis', () => {
  it('answers correctly, as bench servers --check says', async () => {
    const said = await checkWithBench('redis');
    for (const transport of ['udp', 'tcp']) {
      expect(said).toContain(`redis (DinoDNS (Redis)) answers all 200 queries correctly over ${transport}\n`);
    }
  });

  describesAnApplication(async () => (await startRedis(temporaryDirectory())).store);

  it('answers again after its connection was closed', async () => {
    const { client, app } = await startFilled();
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await expectRcode(app, 'zone0.example', 'NOERROR');
    expect(await app.status('/ready')).toBe(200);
  });

  it('answers SERVFAIL while Redis is away or empty, and again once it is filled', async () => {
    const { server, directory, app } = await startFilled();
    server.kill('SIGKILL');
    await once(server, 'exit');
    await expectRcode(app, 'zone0.example', 'SERVFAIL');
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([503, 200]);
    await expect.poll(app.said).toContain('The database is lost');
    await startRedis(directory);
    // Redis kept nothing: that is not the same as zones without names.
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'SERVFAIL' });
    app.signal('SIGHUP');
    await expectRcode(app, 'zone0.example', 'NOERROR');
    expect(await app.status('/ready')).toBe(200);
    await expect.poll(app.said).toContain('The database is back');
  });

  it('answers SERVFAIL within seconds while Redis hangs, however many ask, and again afterwards', async () => {
    const { server, app } = await startFilled();
    server.kill('SIGSTOP');
    const asked: Promise<string>[] = [];
    for (let batch = 0; batch < 15; batch++) {
      for (let count = 0; count < 100; count++) {
        const code = app.ask('zone0.example').then(({ rcode }) => rcode);
        asked.push(code.catch(() => 'lost'));
      }
      // The kernel keeps some hundred datagrams.
      await sleep(20);
    }
    // A thousand questions wait; it is not one of them.
    expect(await seconds(() => app.ask('zone0.example'))).toBeLessThan(1.5);
    const codes = await Promise.all(asked);
    expect(new Set(codes.filter((code) => code !== 'lost'))).toEqual(new Set(['SERVFAIL']));
    expect(codes.filter((code) => code === 'lost').length).toBeLessThan(100);
    expect(await seconds(() => app.ask('zone0.example'))).toBeLessThan(3);
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([503, 200]);
    server.kill('SIGCONT');
    await expectRcode(app, 'zone0.example', 'NOERROR');
  });

  it('answers SERVFAIL whatever else Redis sends, and again afterwards', async () => {
    const replies = {
      garbage: '\u0000garbage\r\n'.repeat(100),
      'a reply of another type': '+OK\r\n'.repeat(100),
      'a list that is too short': '*0\r\n'.repeat(100),
      'half a reply': '*3\r\n$2\r\n{}\r\n',
    };
    let reply = replies.garbage;
    const sent = new Set<string>();
    const directory = temporaryDirectory();
    const socket = join(directory, 'redis.sock');
    const connections = new Set<{ destroy(): void }>();
    const liar = createServer((connection) => {
      connections.add(connection);
      connection.on('error', () => undefined);
      connection.on('data', () => {
        connection.write(reply);
        sent.add(reply);
      });
    }).listen(socket);
    await once(liar, 'listening');
    const app = await startApp(`redis:${socket}`);
    for (const [what, text] of Object.entries(replies)) {
      reply = text;
      for (const connection of connections) connection.destroy();
      await expect.poll(() => sent.has(text)).toBe(true);
      for (let time = 0; time < 3; time++) {
        expect(await app.ask('zone0.example'), what).toMatchObject({ rcode: 'SERVFAIL' });
        await sleep(300);
      }
    }
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([503, 200]);
    for (const connection of connections) connection.destroy();
    await new Promise((resolve) => liar.close(resolve));
    const { store } = await startRedis(directory);
    await fill(store, writeZones(directory, manyZones(1, '192.0.2.1')));
    await expectRcode(app, 'zone0.example', 'NOERROR');
  });

  it('keeps its content when Redis is full in the middle of a fill, and leaves nothing else there', async () => {
    const { client, store, directory, app } = await startFilled();
    const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
    await client.configSet('maxmemory', String(used + 500_000));
    const { status, said } = await fill(store, writeZones(directory, manyZones(12_000, '192.0.2.2')));
    expect([status, said]).toEqual([1, expect.stringContaining('OOM')]);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
    expect(await client.keys('*')).toEqual(['dns:records']);
    await client.configSet('maxmemory', '0');
    app.signal('SIGHUP');
    await expectRcode(app, 'zone7.example', 'NOERROR');
  });

  it('keeps its content when a fill is killed, and Redis removes what is left of it', async () => {
    const { client, store, directory, app } = await startFilled();
    const filling = start([
      ...[...FILL, '--store', store],
      ...['--zones', writeZones(directory, manyZones(20_000, '192.0.2.2'))],
    ]);
    const unfinished = async () => (await client.keys('*')).filter((key) => key !== 'dns:records');
    await expect.poll(unfinished, { interval: 2 }).toHaveLength(1);
    filling.kill('SIGKILL');
    await once(filling, 'exit');
    const [left = ''] = await unfinished();
    expect(await client.ttl(left)).toBeGreaterThan(3000);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
  });

  it('ends a fill that Redis does not answer', async () => {
    const { server, store, zones } = await startFilled();
    server.kill('SIGSTOP');
    expect(await seconds(() => fill(store, zones))).toBeLessThan(15);
  });
});

describe('an application with SQLite', () => {
  it('keeps its content on a file system that is full, and can be filled again', async () => {
    const directory = temporaryDirectory();
    const small = join(directory, 'small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1M', 'tmpfs', small]);
    afterwards(() => execFileSync('umount', ['--lazy', small]));
    const store = `sqlite:${join(small, 'records.db')}`;
    const app = await startApp(store, '--zones', writeZones(directory, manyZones(2, '192.0.2.1')));
    const { status, said } = await fill(store, writeZones(directory, manyZones(20_000, '192.0.2.2')));
    expect([status, said]).toEqual([1, expect.stringContaining('full')]);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
    writeZones(directory, manyZones(10, '192.0.2.3'));
    app.signal('SIGHUP');
    await expectRcode(app, 'zone7.example', 'NOERROR');
  });
});
