/** Records in SQLite, and what an SQLite file can do to a server. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openStore } from '../store.ts';
import { describesAnApplication } from './contract.ts';
import {
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

const place = () => `sqlite:${join(temporaryDirectory(), 'records.db')}`;

describe('an application with SQLite', () => {
  it('answers correctly, as bench servers --check says', async () => {
    const said = await checkWithBench('sqlite');
    for (const transport of ['udp', 'tcp']) {
      expect(said).toContain(
        `sqlite (DinoDNS (SQLite)) answers all 200 queries correctly over ${transport}\n`,
      );
    }
  });

  describesAnApplication(place);

  it('keeps its content when the disk is full in the middle of a fill, and can be filled again', async () => {
    const [directory, store] = [temporaryDirectory(), place()];
    const app = await startApp(store, '--zones', writeZones(directory, manyZones(2, '192.0.2.1')));
    const zones = writeZones(directory, manyZones(8000, '192.0.2.2'));
    // A limit on the size of files, 1 MiB, which needs no file system of its own.
    const { status, said } = await fill(store, zones, [
      'sh',
      '-c',
      'trap "" XFSZ; ulimit -f 2048; exec "$@"',
      'sh',
    ]);
    expect([status, said]).toEqual([1, expect.stringMatching(/^Cannot fill sqlite:/)]);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
    expect(await app.ask('zone7.example')).toMatchObject({ rcode: 'REFUSED' });
    app.signal('SIGHUP');
    await expectRcode(app, 'zone7.example', 'NOERROR');
  });

  it('answers while a fill hangs, and keeps its content when that fill is killed', async () => {
    const [directory, store] = [temporaryDirectory(), place()];
    const app = await startApp(store, '--zones', writeZones(directory, manyZones(2, '192.0.2.1')));
    const zones = writeZones(directory, manyZones(20_000, '192.0.2.2'));
    const filling = start([...FILL, '--store', store, '--zones', zones]);
    const database = new DatabaseSync(store.replace('sqlite:', ''), { timeout: 0 });
    const isLocked = () => {
      try {
        database.exec('BEGIN IMMEDIATE; ROLLBACK');
        return false;
      } catch {
        return true;
      }
    };
    while (!isLocked()) await sleep(5);
    filling.kill('SIGSTOP');
    database.close();
    for (let time = 0; time < 10; time++) {
      expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
    }
    expect(await app.status('/ready')).toBe(200);
    filling.kill('SIGKILL');
    await once(filling, 'exit');
    expect(await app.ask('zone7.example')).toMatchObject({ rcode: 'REFUSED' });
  });

  it('answers SERVFAIL from a damaged or removed file, and again from the next one', async () => {
    const [directory, store] = [temporaryDirectory(), place()];
    const file = store.replace('sqlite:', '');
    const zones = writeZones(directory, manyZones(2, '192.0.2.1'));
    writeFileSync(file, 'garbage '.repeat(10_000));
    const app = await startApp(store);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'SERVFAIL' });
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([503, 200]);
    await expect.poll(app.said).toContain('The database is lost: file is not a database');
    for (let time = 0; time < 2; time++) {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
      await expectRcode(app, 'zone0.example', 'SERVFAIL');
      expect(await fill(store, zones)).toMatchObject({ status: 0 });
      await expectRcode(app, 'zone0.example', 'NOERROR');
    }
    await expect.poll(app.said).toContain('The database is back');
  });

  it('answers SERVFAIL where an entry is damaged in any way, and other names as before', async () => {
    const store = place();
    const damaged = [
      ['no JSON', '{"A":'],
      ['another form', '{"A":["192.0.2.1"]}'],
      ['a list', '[]'],
      ['data of another type', '{"A":{"ttl":60,"data":[{"preference":1}]}}'],
      ['a TTL below 0', '{"A":{"ttl":-1,"data":["192.0.2.1"]}}'],
    ] as const;
    const zones = writeZones(temporaryDirectory(), manyZones(damaged.length + 1, '192.0.2.1'));
    const app = await startApp(store, '--zones', zones);
    const database = new DatabaseSync(store.replace('sqlite:', ''));
    const update = database.prepare('UPDATE records SET sets = ? WHERE name = ?');
    for (const [index, [, text]] of damaged.entries()) {
      const broken = text.replace('{"A"', () => '{"SOA":{"ttl":60,"data":[]},"A"');
      update.run(broken, `zone${index}.example`);
    }
    database.close();
    for (const [index, [what]] of damaged.entries()) {
      const reply = await app.ask(`zone${index}.example`);
      expect(reply, what).toMatchObject({ rcode: 'SERVFAIL', answers: [] });
      expect(await app.ask(`zone${damaged.length}.example`), what).toMatchObject({ rcode: 'NOERROR' });
    }
    expect(await app.status('/ready')).toBe(200);
  });

  it.each(['postgres:x', 'sqlite:', 'nothing'])('refuses --store %s', async (store) => {
    expect(() => openStore(store)).toThrow('names no database. Pass sqlite:FILE');
  });

  it('says so on standard error, and ends', async () => {
    await expect(startApp('nothing')).rejects.toThrow('names no database. Pass sqlite:FILE');
  });
});
