/** What a run compares is a product of axes, from which cases can be left out. */
import { describe, expect, it } from 'vitest';
import { configure, settingsOf } from '../src/config/configuration.ts';
import { byPaths } from '../src/config/paths.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import { MAX_CASES, planRun } from '../src/plan/plan.ts';
import { findServer, serverNames } from '../src/servers/registry.ts';

const configured = (flags: Record<string, unknown>) => configure({ env: {}, flags });
const keysOf = (flags: Record<string, unknown>) => planRun(configured(flags), 8).cases.map(({ key }) => key);

describe('the cases of a run', () => {
  it('are the product of servers, workloads, transports and rates', () => {
    const keys = keysOf({
      servers: 'coredns@1.13.1,dinodns',
      workload: 'existing,missing',
      rate: '2000,max',
      transport: 'udp,tcp',
    });
    expect(keys).toHaveLength(16);
    expect(new Set(keys).size).toBe(16);
    expect(keys.slice(0, 4)).toEqual([
      'coredns@1.13.1/tier=1/single/existing/udp/rate=2000',
      'dinodns/tier=1/single/existing/udp/rate=2000',
      'coredns@1.13.1/tier=1/single/existing/udp',
      'dinodns/tier=1/single/existing/udp',
    ]);
  });

  it("have a server once for each of several paths, compared with the pod's own address", () => {
    const flags = { target: 'kubernetes', servers: 'coredns@1.13.1', path: 'service,pod,local' };
    expect(keysOf(flags)).toEqual(
      ['service', 'pod', 'local'].map((path) => `coredns@1.13.1:${path}/tier=1/single/half/udp`),
    );
    const configuration = configured(flags);
    expect(configuration.baseline).toBe('coredns@1.13.1:pod');
    expect(configured(settingsOf(configuration))).toEqual(configuration);
    expect(configured({ ...flags, baseline: 'coredns@1.13.1:local' }).baseline).toBe('coredns@1.13.1:local');
    const named = byPaths([findServer('coredns@1.13.1', DEFAULTS)], configuration.kubernetes.path);
    expect(named.map(({ name }) => name)).toEqual(
      ['service', 'pod', 'local'].map((path) => `coredns@1.13.1:${path}`),
    );
    expect(named.map(({ title }) => title)).toContain('CoreDNS 1.13.1, node-local Service');
  });

  it('are compared with the baseline of the same point, and adjacent to it in every round', () => {
    const plan = planRun(configured({ servers: 'coredns,dinodns', rate: '100,200', trials: 4 }), 8);
    for (let round = 0; round < 4; round += 1) {
      const rates = plan.trials
        .filter((trial) => trial.round === round)
        .map((trial) => trial.case.ratePerSecond);
      expect(rates[0]).toBe(rates[1]);
      expect(rates[2]).toBe(rates[3]);
    }
  });

  it.each([
    ['server=dinodns,workload=missing', 3],
    ['server=coredns-file', 2],
    ['workload=missing; server=dinodns', 1],
    ['rate=max', 0],
  ])('without those that --exclude %s fits: %i are left', (exclude, left) => {
    const flags = { servers: 'coredns+file,dinodns', workload: 'half,missing', exclude };
    if (left === 0) expect(() => keysOf(flags)).toThrow('leaves no case');
    else expect(keysOf(flags)).toHaveLength(left);
  });

  it.each([
    ['server=nsd', 'no case has server=nsd'],
    ['sever=coredns', 'the axis of "sever=coredns" may be "server"'],
    ['coredns', 'must be AXIS=VALUE'],
    ['tier=', '"tier=" has no value'],
  ])('--exclude %s is refused: %s', (exclude, message) => {
    const problems = () => {
      try {
        return keysOf({ exclude }).join();
      } catch (error) {
        const { message: text, evidence = [] } = error as { message: string; evidence?: string[] };
        return [text, ...evidence].join('\n');
      }
    };
    expect(problems()).toContain(message);
  });

  it('are refused before anything is made if they are too many, with the factors', () => {
    const rate = Array.from({ length: 400 }, (_, index) => index + 1);
    expect(() => keysOf({ rate })).toThrow('1,200 cases are too many: 3 servers × 400 rates');
    expect(MAX_CASES).toBe(1000);
  });
});

describe('the name of a server', () => {
  it.each([
    ['coredns@v1.13.1', 'coredns@1.13.1', 'CoreDNS 1.13.1', '1.13.1'],
    ['coredns+file@1.13.1', 'coredns@1.13.1+file', 'CoreDNS 1.13.1 (file)', '1.13.1'],
    ['coredns-multisocket', 'coredns+multisocket', 'CoreDNS (multisocket)', DEFAULTS.corednsVersion],
    ['knot', 'knot', 'Knot DNS', null],
  ])('%s is %s, %s', (text, name, title, version) => {
    expect(findServer(text, DEFAULTS)).toMatchObject({ name, title, version });
    expect(configured({ servers: text }).servers).toEqual([name]);
  });

  it.each([
    ['coredns+fiel', 'E_UNKNOWN_SERVER', 'Did you mean "coredns+file"'],
    ['coredsn@1.2.3', 'E_UNKNOWN_SERVER', 'Did you mean "coredns"'],
    ['constructor', 'E_UNKNOWN_SERVER', 'Choose from coredns'],
    ['knot+file', 'E_UNKNOWN_SERVER', 'knot has no variants'],
    ['knot@3.2', 'E_CONFIG', 'Write knot:'],
    ['coredns@1@2', 'E_UNKNOWN_SERVER', 'Choose from coredns'],
  ])('%s is refused (%s) with a fix: %s', (text, code, fix) => {
    expect(() => findServer(text, DEFAULTS)).toThrow(
      expect.objectContaining({ code, fix: expect.stringContaining(fix) }),
    );
  });

  it('is unique among all kinds and variants, and so is the title', () => {
    const servers = serverNames().map((name) => findServer(name, DEFAULTS));
    expect(new Set(servers.map(({ name }) => name)).size).toBe(servers.length);
    expect(new Set(servers.map(({ title }) => title)).size).toBe(servers.length);
  });

  it('the same server twice is refused, however it is written', () => {
    expect(() => configured({ servers: 'coredns-file,coredns+file' })).toThrow();
  });
});
