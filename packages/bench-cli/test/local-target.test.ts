import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readProcessStat } from '../src/machine/proc-files.ts';
import type { Server } from '../src/servers/server.ts';
import { createLocalTarget, type LocalTargetOptions } from '../src/targets/local/local-target.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import type { Deployment, DeployRequest, Target } from '../src/targets/target.ts';
import { realWorld, type World } from '../src/world.ts';
import {
  ECHO_SERVER,
  exampleQueries,
  noZones,
  scriptServer,
  systemError,
  uniqueRunId,
  worldWithFs,
} from './local-fixtures.ts';
import { askTcp, askUdp } from './support/ask.ts';

const world = realWorld();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Stage {
  readonly target: Target;
  readonly temporary: string;
  readonly logs: string;
  readonly abort: AbortController;
  deploy(server: Server, changes?: Partial<DeployRequest>): Promise<Deployment>;
}

async function stage(options: Partial<LocalTargetOptions> = {}, base: World = world): Promise<Stage> {
  const temporary = await mkdtemp(join(tmpdir(), 'local-target-test-'));
  const inWorld: World = { ...base, env: { ...base.env, TMPDIR: temporary } };
  const runId = uniqueRunId();
  const groups = await createResourceGroups(inWorld, { runId, request: 'quota' });
  closers.push(groups.close);
  const target = await createLocalTarget(inWorld, {
    groups,
    readinessQueries: exampleQueries,
    ...options,
  });
  const logs = join(temporary, 'logs');
  const abort = new AbortController();
  closers.push(async () => {
    await target.close();
    await rm(temporary, { recursive: true, force: true });
  });
  return {
    target,
    temporary,
    logs,
    abort,
    deploy: (server, changes = {}) =>
      target.deploy({
        server,
        program: [world.processes.nodePath],
        zoneSet: noZones,
        mode: 'single',
        transport: 'udp',
        allowances: [1],
        logDirectory: logs,
        signal: abort.signal,
        ...changes,
      }),
  };
}

async function runs(pid: number | null | undefined): Promise<boolean> {
  const stat = pid == null ? null : await readProcessStat(world, pid);
  return stat !== null && stat.state !== 'Z';
}

describe('a deployment', () => {
  test('starts its servers again in the same places, and still notices when they end', async () => {
    const deployment = await (await stage()).deploy(scriptServer(ECHO_SERVER));
    const [endpoint] = deployment.endpoints;
    const [instance] = deployment.instances;
    if (endpoint === undefined || instance?.pid == null) throw new Error('nothing deployed');
    const ask = () => askUdp(endpoint, { name: 'a.example', type: 'A' }, { timeoutSeconds: 10 });
    await deployment.restart?.(async () => {
      expect(await runs(instance.pid)).toBe(false);
      await expect(ask()).rejects.toThrow('a.example');
    });
    expect((await ask()).responseCode).toBe('NOERROR');
    const pids = (await deployment.usage?.())?.pids ?? [];
    expect(pids).not.toContain(instance.pid);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await expect(deployment.died).rejects.toMatchObject({ code: 'E_SERVER_DIED' });
    await deployment.remove();
  });

  test('is ready when its servers answer, is observed, and leaves nothing when it is removed', async () => {
    const { target, temporary, logs, deploy } = await stage();
    const server = scriptServer(ECHO_SERVER, {
      files: [{ path: 'zones/a.zone', chunks: ['one ', 'two'] }],
      workers: 1,
    });
    const deployment = await deploy(server, { allowances: [0.5, 0.5] });
    expect(deployment.endpoints).toHaveLength(2);
    expect(new Set(deployment.endpoints.map(({ port }) => port)).size).toBe(2);
    expect(deployment.files).toEqual({ 'zones/a.zone': 'one two' });
    expect(deployment.instances[0]).toMatchObject({ address: '127.0.0.1', workers: 1, cpuAllowance: 0.5 });
    expect(deployment.instances[0]?.command[0]).toBe(world.processes.nodePath);
    for (const endpoint of deployment.endpoints) {
      expect((await askUdp(endpoint, { name: 'a.example', type: 'A' })).responseCode).toBe('NOERROR');
    }

    const window = await deployment.observe();
    await world.clock.sleep(0.6);
    const seen = await window.end();
    expect(seen?.processes).toBe(2);
    expect(seen?.memoryBytes?.mean).toBeGreaterThan(20_000_000);
    expect(seen?.samples.length).toBeGreaterThan(0);

    expect(await readdir(logs)).toEqual(['script-1.log', 'script-2.log']);
    expect(await readFile(join(logs, 'script-1.log'), 'utf8')).toContain('"ready":true');
    const pids = deployment.instances.map(({ pid }) => pid);
    await deployment.remove();
    await deployment.remove();
    for (const pid of pids) expect(await runs(pid)).toBe(false);
    const runDirectory = (await readdir(temporary)).find((name) => name.startsWith('dinodns-bench-'));
    expect(await readdir(join(temporary, runDirectory ?? ''))).toEqual([]);
    await target.close();
    expect(await readdir(temporary)).toEqual(['logs']);
  });

  test('over TCP is ready when it answers over TCP', async () => {
    const { deploy } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER), { transport: 'tcp' });
    const [endpoint] = deployment.endpoints;
    if (endpoint === undefined) throw new Error('no endpoint');
    expect((await askTcp(endpoint, { name: 'a.example', type: 'A' })).questionEchoed).toBe(true);
  });

  test('takes the number of workers from the line in which a server says that it is ready', async () => {
    const { deploy } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER, { readiness: { kind: 'stdout-json' } }));
    expect(deployment.instances[0]?.workers).toBe(3);
  });

  test('waits while a server answers that it has not loaded its zones', async () => {
    const { deploy } = await stage();
    const loading = ECHO_SERVER.replace(
      'return bytes;',
      'if (performance.now() < 700) bytes[3] |= 2; else console.log("loaded"); return bytes;',
    );
    const deployment = await deploy(scriptServer(loading));
    await expect.poll(() => deployment.lastLogLines()).toContain('loaded');
  });

  test('is removed with SIGKILL if a server does not heed SIGTERM', async () => {
    const { deploy } = await stage();
    const stubborn = `process.on('SIGTERM', () => console.log('no')); ${ECHO_SERVER}`;
    const deployment = await deploy(scriptServer(stubborn));
    await deployment.remove();
    expect(await deployment.lastLogLines()).toContain('no');
    expect(await runs(deployment.instances[0]?.pid)).toBe(false);
  });
});

describe('what runs beside a server', () => {
  const beside = [['sh', '-c', 'echo $$ > beside.pid; exec sleep 60']];
  const besidePid = async (temporary: string) => {
    // Nobody waits for what it writes.
    const pid = async () => {
      const paths = await readdir(temporary, { recursive: true });
      const path = paths.find((entry) => entry.endsWith('beside.pid'));
      return path === undefined ? 0 : Number(await readFile(join(temporary, path), 'utf8'));
    };
    await expect.poll(pid).toBeGreaterThan(0);
    return pid();
  };

  test('is in its group and ends with it', async () => {
    const { deploy, temporary } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER, { beside }));
    const pid = await besidePid(temporary);
    expect(await runs(pid)).toBe(true);
    const window = await deployment.observe();
    await world.clock.sleep(0.2);
    expect((await window.end())?.processes).toBe(2);
    await deployment.remove();
    expect(await runs(pid)).toBe(false);
  });

  test('ends when the server does', async () => {
    const { deploy, temporary } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER, { beside }));
    const pid = await besidePid(temporary);
    process.kill(deployment.instances[0]?.pid ?? 0, 'SIGKILL');
    await expect(deployment.died).rejects.toMatchObject({ code: 'E_SERVER_DIED' });
    await expect.poll(() => runs(pid)).toBe(false);
  });
});

describe('a server that does not start', () => {
  test('and exits is reported at once with its status and its last lines', async () => {
    const { deploy, temporary } = await stage();
    const began = world.clock.monotonicSeconds();
    const failing = scriptServer('console.error("plugin/template: bad line 7"); process.exit(3)');
    await expect(deploy(failing)).rejects.toMatchObject({
      code: 'E_SERVER_START',
      message: expect.stringMatching(/script did not start on 127\.0\.0\.1:\d+: it ended with exit status 3/),
      evidence: ['plugin/template: bad line 7'],
    });
    // And not after the half minute that a server has for its start.
    expect(world.clock.monotonicSeconds() - began).toBeLessThan(25);
    const runDirectory = (await readdir(temporary)).find((name) => name.startsWith('dinodns-bench-'));
    expect(await readdir(join(temporary, runDirectory ?? ''))).toEqual([]);
  });

  test('is shown with what it logged to a file, and where its rights may come from', async () => {
    const { deploy } = await stage();
    const early = `require('node:fs').writeFileSync('early.log', 'open: named.conf: permission denied\\n');
      console.error('exiting'); process.exit(1)`;
    await expect(deploy(scriptServer(early, { logFile: 'early.log' }))).rejects.toMatchObject({
      code: 'E_SERVER_START',
      evidence: ['open: named.conf: permission denied', 'exiting'],
      fix: expect.stringContaining('AppArmor'),
    });
  });

  test('because its program is not there is reported with its name', async () => {
    const { deploy } = await stage();
    const missing = scriptServer('', {}, () => ['/no/such/server']);
    await expect(deploy(missing)).rejects.toMatchObject({
      code: 'E_SERVER_START',
      evidence: [expect.stringContaining('/no/such/server')],
    });
  });

  test('because its port is taken is tried on other ports, and then says so', async () => {
    const holder = createServer();
    const port = await new Promise<number>((resolve) => {
      holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port));
    });
    closers.push(() => new Promise((resolve) => holder.close(resolve)));
    const chosen: number[] = [];
    const { deploy } = await stage({
      choosePort: async () => {
        chosen.push(port);
        return port;
      },
    });
    await expect(deploy(scriptServer(ECHO_SERVER))).rejects.toMatchObject({
      code: 'E_PORT_TAKEN',
      message: `script cannot listen on 127.0.0.1:${port}: the port is in use`,
    });
    expect(chosen).toEqual([port, port, port]);
  });

  test('takes the instances before it down with it', async () => {
    const { deploy, temporary } = await stage();
    let started = 0;
    const second = scriptServer('', {}, (address, port) => {
      started += 1;
      const script = started === 1 ? ECHO_SERVER : 'process.exit(1)';
      return [world.processes.nodePath, '-e', script, address, String(port)];
    });
    await expect(deploy(second, { allowances: [1, 1] })).rejects.toMatchObject({ code: 'E_SERVER_START' });
    const runDirectory = (await readdir(temporary)).find((name) => name.startsWith('dinodns-bench-'));
    expect(await readdir(join(temporary, runDirectory ?? ''))).toEqual([]);
  });

  test('because the disk is full says so', async () => {
    const full = worldWithFs({ writeFile: () => Promise.reject(systemError('ENOSPC')) });
    const groups = await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' });
    closers.push(groups.close);
    const { deploy } = await stage({ groups }, full);
    const server = scriptServer(ECHO_SERVER, { files: [{ path: 'Corefile', chunks: ['x'] }] });
    await expect(deploy(server)).rejects.toMatchObject({ code: 'E_DISK_FULL' });
  });
});

describe('a server that ends while it is measured', () => {
  test('is reported at once with its last lines', async () => {
    const { deploy } = await stage();
    const deployment = await deploy(
      scriptServer(
        `process.on('SIGUSR2', () => { console.error('panic: out of range'); process.exit(2); }); ${ECHO_SERVER}`,
      ),
    );
    process.kill(deployment.instances[0]?.pid ?? 0, 'SIGUSR2');
    await expect(deployment.died).rejects.toMatchObject({
      code: 'E_SERVER_DIED',
      message: expect.stringContaining('exit status 2'),
      evidence: expect.arrayContaining(['panic: out of range']),
    });
  });

  test('is not reported when it was removed', async () => {
    const { deploy } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER));
    await deployment.remove();
    const outcome = await Promise.race([
      deployment.died.catch(() => 'died'),
      world.clock.sleep(0.1).then(() => 'quiet'),
    ]);
    expect(outcome).toBe('quiet');
  });
});

describe('an interrupted run', () => {
  test('gives up a deployment that is not ready, and leaves nothing', async () => {
    const { deploy, abort, temporary } = await stage();
    const deploying = deploy(scriptServer('setInterval(() => undefined, 1000)'));
    setTimeout(() => abort.abort(new Error('Ctrl-C')), 300);
    await expect(deploying).rejects.toThrow('Ctrl-C');
    const runDirectory = (await readdir(temporary)).find((name) => name.startsWith('dinodns-bench-'));
    expect(await readdir(join(temporary, runDirectory ?? ''))).toEqual([]);
  });

  test('removes a deployment that is ready', async () => {
    const { deploy, abort } = await stage();
    const deployment = await deploy(scriptServer(ECHO_SERVER));
    abort.abort(new Error('Ctrl-C'));
    await expect.poll(() => runs(deployment.instances[0]?.pid)).toBe(false);
    await deployment.remove();
  });
});
