import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { defineZoneSet } from '@dinodns-bench/zones';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULTS } from '../src/config/settings.ts';
import { createDnsClient } from '../src/dns/client.ts';
import { readAllProcessStats, readProcessStat } from '../src/machine/proc-files.ts';
import { checkAnswers } from '../src/measure/answer-check.ts';
import { createProvisioner } from '../src/provision/provision.ts';
import { isEncrypted } from '../src/results/record.ts';
import { withClusterNames } from '../src/servers/cluster-names.ts';
import { findServer, SERVER_KINDS, serverNames } from '../src/servers/registry.ts';
import { type Server, transportsOf } from '../src/servers/server.ts';
import { createLocalTarget } from '../src/targets/local/local-target.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import { generatedClusterWorkload } from '../src/workload/cluster-names.ts';
import { readinessQueries } from '../src/workload/workload.ts';
import { realWorld, type World } from '../src/world.ts';
import { controlGroups, uniqueRunId } from './local-fixtures.ts';
import { askTcp, askUdp } from './support/ask.ts';

const zoneSet = defineZoneSet();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** How to call a server kind's program. */
async function programOf(world: World, kind: Server): Promise<readonly string[]> {
  const options = {
    allowed: false,
    version: kind.version,
    progress: { step: () => undefined, detail: () => undefined },
    signal: new AbortController().signal,
  };
  if (kind.program === null) throw new Error(`${kind.name} has no program for this machine`);
  const { executable } = await createProvisioner(world)(kind.program, options);
  return executable.endsWith('.ts') ? [world.processes.nodePath, executable] : [executable];
}

/** The servers' programs from outside of the workspace. */
const PROGRAMS = ['coredns', 'knotd', 'nsd', 'named', 'pdns_server', 'unbound', 'dnsmasq'] as const;

/** What a test of this server needs beyond the workspace. */
function needsOf({ program }: Server) {
  return needs(...PROGRAMS.filter((name) => name === program?.name));
}

async function stage(): Promise<{ world: World; temporary: string }> {
  const temporary = await mkdtemp(join(tmpdir(), 'r-'));
  closers.push(() => rm(temporary, { recursive: true, force: true }));
  const real = realWorld();
  return { world: { ...real, env: { ...real.env, TMPDIR: temporary } }, temporary };
}

// What is in a cluster already cannot be deployed here.
const deployed = serverNames()
  .map((name) => findServer(name, DEFAULTS))
  .filter(({ existing }) => existing === undefined);

describe('on the local target', () => {
  // `coredns-cluster` has other names, and a test of its own.
  for (const server of deployed.filter(({ answersNamesOf }) => answersNamesOf === undefined)) {
    const { name } = server;
    for (const mode of ['single', 'multi'] as const) {
      test(
        `${name} in ${mode} mode answers, is observed with its limit, and is gone afterwards`,
        needsOf(server),
        async () => {
          const { world, temporary } = await stage();
          const program = await programOf(world, server);
          const runId = uniqueRunId();
          const groups = await createResourceGroups(world, { runId, request: 'quota' });
          const target = await createLocalTarget(world, { groups, readinessQueries });
          closers.push(target.close);
          const deployment = await target.deploy({
            server,
            program,
            zoneSet,
            mode,
            transport: 'udp',
            allowances: [1],
            logDirectory: join(temporary, 'logs'),
            signal: new AbortController().signal,
          });
          const [endpoint] = deployment.endpoints;
          const [instance] = deployment.instances;
          if (endpoint === undefined || instance === undefined) throw new Error('nothing deployed');
          const window = await deployment.observe();
          const isEcho = server.answers === 'echo';
          for (const ask of isEcho ? [askUdp] : [askUdp, askTcp]) {
            const answer = await ask(endpoint, { name: 'example199.com', type: 'A' });
            expect(answer.responseCode).toBe('NOERROR');
            expect(answer.answers).toMatchObject(isEcho ? [] : [{ type: 'A', data: '127.0.0.1' }]);
          }
          const seen = await window.end();
          expect(seen?.processes).toBeGreaterThanOrEqual(1);
          expect(seen?.memoryBytes?.mean).toBeGreaterThan(50_000);
          expect(seen?.cpuSeconds).toBeGreaterThan(0);

          await deployment.remove();
          await expect(
            askUdp(endpoint, { name: 'example1.com', type: 'A' }, { timeoutSeconds: 0.3 }),
          ).rejects.toThrow();
          const stat = await readProcessStat(world, instance.pid ?? 0);
          expect(stat === null || stat.state === 'Z').toBe(true);
          await target.close();
          expect(await readdir(temporary)).toEqual(['logs']);
          expect((await controlGroups()).filter((path) => path.includes(runId))).toEqual([]);
        },
      );
    }
  }
});

describe('with the names of a generated cluster in zone files', () => {
  const internal = generatedClusterWorkload('internal');
  if (internal === null) throw new Error('no workload internal');
  const servers = deployed
    .map(withClusterNames)
    .filter(({ answersNamesOf }) => answersNamesOf === 'zones-of-generated-cluster');
  for (const server of servers) {
    test(`${server.name} answers all that is asked for, as predicted`, needsOf(server), async () => {
      const { world, temporary } = await stage();
      const groups = await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' });
      const target = await createLocalTarget(world, { groups, readinessQueries });
      closers.push(target.close);
      const { signal } = new AbortController();
      const deployment = await target.deploy({
        server,
        program: await programOf(world, server),
        zoneSet,
        mode: 'single',
        transport: 'udp',
        allowances: [1],
        logDirectory: join(temporary, 'logs'),
        signal,
      });
      const [endpoint] = deployment.endpoints;
      if (endpoint === undefined) throw new Error('nothing deployed');
      const client = await deployment.openClient(endpoint, internal);
      closers.push(async () => client.close());
      const check = { client, server, zoneSet, workload: internal, dnssec: false, signal };
      expect(await checkAnswers(check)).toBe(internal.size);
    });
  }

  test('are those servers that read a file for each zone', () => {
    expect(servers.map(({ name }) => name)).toEqual([
      'coredns+file',
      'dinodns',
      'dinodns+busy-poll',
      'knot',
      'nsd',
    ]);
  });
});

/** Those that are started here, each without its variants. */
const kinds = SERVER_KINDS.filter(({ definition: { existing } }) => !existing).map(({ name }) =>
  findServer(name, DEFAULTS),
);

describe('over an encrypted transport', () => {
  for (const server of kinds) {
    for (const transport of transportsOf(server).filter(isEncrypted)) {
      test(
        `${server.name} answers over ${transport} with the certificate of the run`,
        needsOf(server),
        async () => {
          const { world, temporary } = await stage();
          const groups = await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' });
          const target = await createLocalTarget(world, { groups, readinessQueries });
          closers.push(target.close);
          const deployment = await target.deploy({
            server,
            program: await programOf(world, server),
            zoneSet,
            mode: 'multi',
            transport,
            allowances: [1],
            logDirectory: join(temporary, 'logs'),
            signal: new AbortController().signal,
          });
          const [endpoint] = deployment.endpoints;
          if (endpoint === undefined) throw new Error('nothing deployed');
          const client = createDnsClient(endpoint, transport, world.clock);
          closers.push(async () => client.close());
          const answer = await client.ask({ name: 'example199.com', type: 'A' });
          expect(answer.answers).toMatchObject([{ type: 'A', data: '127.0.0.1' }]);
          const recorded = Object.values(deployment.files).join('\n');
          expect(recorded).not.toContain('PRIVATE KEY');
          await target.close();
          expect(await readdir(temporary)).toEqual(['logs']);
        },
      );
    }
  }
});

describe('when bench is killed', () => {
  const module = (path: string) => JSON.stringify(join(import.meta.dirname, '../src', path));

  /** A bench of its own that deploys the server, prints the ids of its processes, and then hangs. */
  function benchScript(name: string, program: readonly string[], temporary: string): string {
    return `
      import { defineZoneSet } from '@dinodns-bench/zones';
      import { readinessQueries } from ${module('workload/workload.ts')};
      import { findServer } from ${module('servers/registry.ts')};
      import { createLocalTarget } from ${module('targets/local/local-target.ts')};
      import { createResourceGroups } from ${module('targets/local/resource-groups.ts')};
      import { realWorld } from ${module('world.ts')};
      const world = realWorld();
      let group;
      const real = await createResourceGroups(world, { runId: 'killed', request: 'quota' });
      const groups = { ...real, create: async (request) => (group = await real.create(request)) };
      const target = await createLocalTarget(world, { groups, readinessQueries });
      await target.deploy({
        server: findServer(${JSON.stringify(name)}, ${JSON.stringify(DEFAULTS)}), program: ${JSON.stringify(program)}, zoneSet: defineZoneSet(),
        mode: 'multi', transport: 'udp', allowances: [2], logDirectory: ${JSON.stringify(join(temporary, 'logs'))},
        signal: new AbortController().signal,
      });
      console.log(JSON.stringify(await group.pids()));
      await world.clock.sleep(60);
    `;
  }

  for (const server of kinds.filter(({ answers }) => answers !== 'echo')) {
    const { name } = server;
    test(`${name} ends with it, all of its processes`, needsOf(server), async () => {
      const { world, temporary } = await stage();
      const program = await programOf(world, server);
      const bench = spawn(
        world.processes.nodePath,
        ['--input-type=module', '-e', benchScript(name, program, temporary)],
        // The script imports workspace packages, so it has to run from inside of this one.
        {
          cwd: import.meta.dirname,
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, TMPDIR: temporary },
        },
      );
      closers.push(async () => bench.kill('SIGKILL'));
      const line = await new Promise<string>((resolve, reject) => {
        bench.stdout.once('data', (data) => resolve(String(data)));
        bench.once('exit', (code) => reject(new Error(`bench ended with ${code}`)));
      });
      const pids = JSON.parse(line) as number[];
      expect(pids.length).toBeGreaterThan(0);
      bench.kill('SIGKILL');
      const left = async () => {
        const stats = await readAllProcessStats(world);
        return stats.filter(({ pid, state }) => pids.includes(pid) && state !== 'Z').map(({ pid }) => pid);
      };
      await expect.poll(left).toEqual([]);
      // Nothing runs any more; the next run removes the directories and groups.
      const groups = await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' });
      const target = await createLocalTarget(world, { groups, readinessQueries });
      await target.close();
      // Node.js may have put a compile cache there, which is its own to keep.
      expect((await readdir(temporary)).filter((entry) => entry.startsWith('dinodns-bench-'))).toEqual([]);
      expect((await controlGroups()).filter((path) => path.includes(`-${bench.pid}-`))).toEqual([]);
    });
  }
});
