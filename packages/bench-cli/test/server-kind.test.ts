/** A server kind is one folder: what bench needs to know of it stands in its `ServerKind`, and nowhere else. */
import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import { inspectTools } from '../src/doctor/inspect-tools.ts';
import { checkAnswers } from '../src/measure/answer-check.ts';
import { openLocalSession, preparePrograms } from '../src/measure/session.ts';
import { createDisplay } from '../src/progress/display.ts';
import { inspectionOf, type Program } from '../src/provision/provision.ts';
import type { ProvisionedTool } from '../src/results/record.ts';
import { SERVER_KINDS, serverOf } from '../src/servers/registry.ts';
import type { ServerDefinition, ServerKind } from '../src/servers/server.ts';
import { namedWorkload } from '../src/workload/named.ts';
import { zoneSetOf } from '../src/workload/workload.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const SCRIPT = fileURLToPath(new URL('fixtures/made-up-server/server.mjs', import.meta.url));

const tool: ProvisionedTool = {
  tool: 'made-up-server',
  version: 'unknown',
  executable: SCRIPT,
  source: 'workspace',
  origin: 'a script of this test',
  sizeBytes: null,
};

const definition: ServerDefinition = {
  program: {
    name: 'made-up-server',
    optional: false,
    provide: async () => tool,
    inspect: async () => inspectionOf({ found: tool }),
  },
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: (mode, transport) =>
    transport === 'udp' && mode === 'single' ? null : 'UDP in one process only',
  plan({ zoneSet, program, directory, address, port }) {
    const records = [...zoneSet.zones()].flatMap((zone) => [...zone.records]);
    const addresses = records.flatMap((record) => (record.type === 'A' ? [[record.name, record.data]] : []));
    return {
      files: [{ path: 'addresses.json', chunks: [JSON.stringify(Object.fromEntries(addresses))] }],
      command: [...program, `${directory}/addresses.json`, address, String(port)],
      env: {},
      readiness: { kind: 'stdout-json' },
      workers: 1,
    };
  },
  versionArguments: ['--version'],
  parseVersion(output) {
    const version = /^made-up (\S+)/m.exec(output)?.[1];
    return version === undefined ? null : { version, components: {} };
  },
};

/** What a folder under `servers/` would export. */
const kind: ServerKind = {
  name: 'made-up',
  title: 'Made up',
  description: 'a server of this test',
  definition,
};

const madeUp = serverOf(kind, { kind: 'made-up', version: null, variant: null }, DEFAULTS);

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('a kind of which nothing but its interface is known', () => {
  it('is provisioned, described, deployed, checked against the zone set and removed', async () => {
    const { signal } = new AbortController();
    const configuration = configure({
      env: {},
      flags: { servers: 'coredns', tier: '0.5', loader: 'builtin' },
    });
    const programs = await preparePrograms(
      world,
      [madeUp],
      configuration,
      [],
      createDisplay(world.stderr),
      signal,
    );
    expect(programs.provisioned).toEqual([tool]);
    expect(programs.servers).toMatchObject([{ kind: 'made-up', title: 'Made up', version: '1.2.3' }]);
    const session = await openLocalSession({
      world,
      runId: 'made-up',
      configuration,
      choice: programs.loader,
      cases: [{ allowances: [0.5] }],
      signal,
      force: signal,
    });
    try {
      const zoneSet = zoneSetOf(10);
      const workload = namedWorkload('half', zoneSet, configuration);
      if (workload === null) throw new Error('there is no workload "half"');
      const deployment = await session.target.deploy({
        server: madeUp,
        program: programs.programOf(madeUp),
        zoneSet,
        mode: 'single',
        transport: 'udp',
        allowances: [0.5],
        logDirectory: world.directory,
        signal,
      });
      const [endpoint] = deployment.endpoints;
      if (endpoint === undefined) throw new Error('it has no endpoint');
      const client = await deployment.openClient(endpoint, workload);
      expect(await checkAnswers({ client, server: madeUp, zoneSet, workload, dnssec: false, signal })).toBe(
        20,
      );
      client.close();
      await deployment.remove();
    } finally {
      await session.close();
    }
  });

  it('that does not tell its version in time is refused: the record would have the version of another part', async () => {
    // A minute passes at once.
    const clock = {
      ...world.clock,
      after(_: number, action: () => void) {
        setImmediate(action);
        return () => undefined;
      },
    };
    const silent = { ...tool, executable: '/bin/sh', arguments: ['-c', 'sleep 600'] };
    const program: Program = {
      ...{ name: 'made-up-server', optional: false },
      provide: async () => silent,
      inspect: async () => inspectionOf({ found: silent }),
    };
    const server = serverOf(
      { ...kind, definition: { ...definition, program } },
      { kind: 'made-up', version: null, variant: null },
      DEFAULTS,
    );
    const { signal } = new AbortController();
    const configuration = configure({ env: {}, flags: { loader: 'builtin' } });
    const display = createDisplay(world.stderr);
    await expect(
      preparePrograms({ ...world, clock }, [server], configuration, [], display, signal),
    ).rejects.toMatchObject({
      code: 'E_SERVER_START',
      message: expect.stringContaining('Made up did not tell its version in 60 seconds: /bin/sh'),
    });
  });

  it('is asked for all its versions, for each once, before the first is got', async () => {
    const done: string[] = [];
    const program: Program = {
      name: 'made-up-server',
      optional: false,
      demandVersion: async (_, { version }) => {
        done.push(`asked for ${version}`);
        if (version === '2') throw new Error('there is no 2');
      },
      provide: async (_, { version }) => {
        done.push(`got ${version}`);
        return tool;
      },
      inspect: async () => inspectionOf({ found: tool }),
    };
    const versions = ['1', '1', '2'].map((version) =>
      serverOf(
        { ...kind, definition: { ...definition, program } },
        { kind: 'made-up', version, variant: null },
        DEFAULTS,
      ),
    );
    const { signal } = new AbortController();
    const display = createDisplay(world.stderr);
    const configuration = configure({ env: {}, flags: { loader: 'builtin' } });
    await expect(preparePrograms(world, versions, configuration, [], display, signal)).rejects.toThrow(
      'there is no 2',
    );
    expect(done).toEqual(['asked for 1', 'asked for 2']);
  });

  it('is known to bench doctor by what it says of itself', async () => {
    const tools = await inspectTools(world, [kind]);
    expect(tools.map(({ program }) => program.name)).toEqual(['made-up-server', 'dnsperf']);
    expect(tools[0]?.found).toEqual(tool);
  });
});

describe('the name of a program', () => {
  const source = resolve(import.meta.dirname, '../src');
  const files = globSync(`${source}/**/*.ts`).map((path) => ({
    path: relative(source, path),
    text: readFileSync(path, 'utf8'),
  }));
  const programs = [...new Set(SERVER_KINDS.flatMap(({ definition: { program } }) => program?.name ?? []))];

  // CoreDNS is the default baseline, and its version is a setting, so its name stands elsewhere as well.
  it.each(programs.filter((name) => name !== 'coredns'))('%s stands in one folder only', (name) => {
    const naming = files.filter(({ text }) => text.includes(`'${name}'`)).map(({ path }) => path);
    const folders = naming.map((path) => path.split('/').slice(0, 2).join('/'));
    expect(new Set(folders).size, naming.join(', ')).toBe(1);
    expect(folders[0]).toMatch(/^servers\//);
  });
});
