/** What a verification on this machine makes of a pause, of a port that is taken, and of steps that fail, without a CoreDNS. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defineCluster } from '@dinodns-bench/cluster-objects';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sizeWith } from '../src/experiments/capacity/memory-basis.ts';
import { startLocally } from '../src/experiments/capacity/verify/start-locally.ts';
import { restOf, sizeWarnings } from '../src/experiments/capacity/verify/verification.ts';
import { realWorld, type World } from '../src/world.ts';

it('on a cluster, only what the cluster has not is created, and another size than that of the plan is said', () => {
  const wanted = { services: 100, pods: 1000, endpoints: 1500 };
  const rest = { services: 70, pods: 600, endpoints: 1100 };
  expect(restOf(wanted, { services: 30, pods: 400, endpoints: 400 })).toEqual(rest);
  expect(sizeWarnings(wanted, sizeWith({ services: 30, pods: 400, endpoints: 400 }, rest), true)).toEqual([]);
  const own = { services: 120, pods: 1400, endpoints: 400 };
  // Endpoints that are missing belong to a Service of ours, also where there are enough.
  const behind = restOf(wanted, own);
  expect(behind).toEqual({ services: 1, pods: 1, endpoints: 1100 });
  const read = sizeWith(own, behind);
  expect(sizeWarnings(wanted, read, true)).toContain('The plan is for 1,000 pods, and CoreDNS read 1,401.');
  expect(sizeWarnings(wanted, read, false)).toEqual(['The plan is for 100 services, and CoreDNS read 121.']);
  expect(restOf(wanted, { ...own, endpoints: 1500 })).toEqual({ services: 0, pods: 0, endpoints: 0 });
});

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'verify-fake-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A program in place of CoreDNS that says `text`, notes its start, and ends. */
async function started(text: string, changes: Partial<World['fs']> = {}) {
  const real = realWorld();
  const [coredns, log] = [join(directory, 'coredns'), join(directory, 'starts')];
  await writeFile(coredns, `#!/bin/sh\necho "$2" >> ${log}\necho '${text}'\nexit 1\n`);
  await chmod(coredns, 0o755);
  const world: World = {
    ...real,
    env: { ...real.env, TMPDIR: directory },
    fs: { ...real.fs, ...changes },
  };
  const result = startLocally({
    ...{ world, coredns, corefile: {}, phases: ['cold-start'], seconds: 1, queriesPerSecond: 0 },
    cluster: defineCluster({ services: 2, pods: 20 }),
    memoryLimitBytes: null,
    signal: AbortSignal.timeout(60_000),
  });
  const settled = await Promise.allSettled([result]);
  const corefiles = (await readFile(log, 'utf8')).trim().split('\n');
  return { outcome: settled[0], corefiles, left: (await readdir(directory)).toSorted() };
}

const TAKEN = 'Listen: listen tcp 127.0.0.1:53: bind: address already in use';

it('a taken port is tried again, and is no verdict on the plan', async () => {
  const { outcome, corefiles, left } = await started(TAKEN);
  expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'E_PORT_TAKEN' } });
  expect(new Set(corefiles).size).toBe(3);
  expect(left).toEqual(['coredns', 'starts']);
}, 60_000);

it('a CoreDNS that ends for another reason is one', async () => {
  const { outcome, corefiles } = await started('plugin/kubernetes: no such option');
  expect(outcome).toMatchObject({
    status: 'fulfilled',
    value: { death: expect.stringContaining('no such option') },
  });
  expect(corefiles).toHaveLength(1);
}, 60_000);

it('a step of putting back that fails is said beside why it ended', async () => {
  const { outcome } = await started(TAKEN, { rm: () => Promise.reject(new Error('the disk is gone')) });
  const message = outcome?.status === 'rejected' ? outcome.reason.message : '';
  expect(message).toContain('was taken by another program meanwhile');
  expect(message).toContain('the disk is gone');
}, 60_000);

/** Asks a server of another thread, and stops twice: for three times as long as it waits for an answer, and while a thousand queries get due. */
const PAUSED = `
const { Worker } = await import('node:worker_threads');
const server = new Worker(\`
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(query, port, address));
  socket.bind(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(socket.address().port));
\`, { eval: true, execArgv: [] });
const port = await new Promise((resolve) => server.once('message', resolve));
const { openAsker } = await import(process.argv[1]);
const asker = await openAsker({ address: '127.0.0.1', port });
const question = () => ({ name: 'example1.com', type: 'A', code: 0 });
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const asked = asker.once(question, 100);
pause(600);
await asked;
const stop = asker.steadily(question, 500);
await sleep(100);
pause(2000);
await sleep(500);
await stop();
console.log(JSON.stringify(asker.counts()));
process.exit();
`;

it('what was answered while the program that asks was paused is not lost', async () => {
  const program = new URL('../src/experiments/capacity/beside/program/asker.mjs', import.meta.url);
  const argv = ['--input-type=module', '-e', PAUSED, program.href];
  const env = { ...process.env, LOST_AFTER_MS: '200' };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env, timeout: 30_000 });
  const { sent, answered, lost } = JSON.parse(stdout);
  expect(sent).toBeGreaterThan(1100);
  expect([answered, lost]).toEqual([sent, 0]);
}, 60_000);
