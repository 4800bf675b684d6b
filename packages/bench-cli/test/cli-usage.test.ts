import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serverNames } from '../src/servers/registry.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

it('prints its help for a command that needs another one', async () => {
  expect(await world.bench('capacity')).toBe(2);
  expect(world.err()).toContain('Usage: bench capacity [options] [command]');
  expect(world.err()).not.toContain('error [');
});

describe('bench with wrong input', () => {
  it.each<[string, string[], number, string, string]>([
    ['an unknown option', ['--teir', '1'], 2, "unknown option '--teir'", '--tier'],
    ['a report of no run', ['report'], 2, "missing required argument 'run'", '`bench report latest`'],
    [
      'an unknown option of a command',
      ['loss', '--nosuch'],
      2,
      "unknown option '--nosuch'",
      'bench loss --help',
    ],
    ['an unknown command', ['rnu'], 2, 'unknown command "rnu"', 'Did you mean "run"'],
    ['one of a group', ['capacity', 'memry'], 2, 'unknown command "capacity memry"', 'Did you mean "memory"'],
    ['servers as words', ['run', 'coredns', 'knot'], 2, 'too many arguments', 'run --servers coredns,knot`'],
    [
      'servers without their flag',
      ['run', 'coredns,knot'],
      2,
      'too many arguments',
      'bench run --servers coredns,knot',
    ],
    [
      'servers without their flag',
      ['loss', 'coredns,knot'],
      2,
      'too many',
      '`bench loss --servers coredns,knot`',
    ],
    [
      'servers without a command',
      ['coredns,knot'],
      2,
      'too many arguments',
      'bench run --servers coredns,knot',
    ],
    ['a running server with a colon', ['--servers', 'at:192.0.2.1'], 2, '"at:192.0.2.1"', 'at=192.0.2.1'],
    ['load for another machine', ['--servers', 'at=192.0.2.1'], 2, 'not a loopback', '--allow-remote'],
    ['a rate below one query a second', ['--rate', '0.1'], 2, '"0.1"', 'bench run --help'],
    [
      'an amount of memory without its unit',
      ['--target', 'kubernetes', '--memory-limit', '170'],
      2,
      'at least 1Mi',
      '512Mi',
    ],
    ['an unknown server', ['--servers', 'coredns,dinodsn'], 2, '"dinodsn"', 'Did you mean "dinodns"'],
    [
      'how far bench goes with kube-dns',
      ['--servers', 'coredns,kube-dns'],
      2,
      'unknown server "kube-dns"',
      'Its caching is measured with its three images',
    ],
    ['an unknown workload', ['--workload', 'hafl'], 2, '"hafl"', 'Did you mean "half"'],
    [
      'names of a generated cluster for a server that answers wrongly for some of them',
      ['--servers', 'dinodns-stock', '--workload', 'internal'],
      2,
      'dinodns-stock has no names for the workload "internal": its DefaultStore answers NXDOMAIN',
      'internal also with coredns+file, dinodns, knot, nsd and echo',
    ],
    [
      'names of a generated cluster for a server that bench cannot give them',
      ['--servers', 'bind', '--workload', 'internal'],
      2,
      'bind has no names for the workload "internal": bench can configure it for the zone set only',
      'coredns-cluster',
    ],
    [
      'names outside a generated cluster for a server that does not forward',
      ['--servers', 'coredns,knot', '--workload', 'internal,external'],
      2,
      'knot has no names for the workload "external": bench gives it zone files',
      'Give --workload internal;',
    ],
    [
      'names of a generated cluster beside those of the zones',
      ['--servers', 'coredns', '--workload', 'internal,half'],
      2,
      'coredns has no names for the workload "internal": another workload asks for those of the zone set',
      'with no other workloads',
    ],
    [
      'zones for a server that has none',
      ['--servers', 'coredns-cluster'],
      2,
      'coredns-cluster has no names for the workload "half"',
      '--workload internal,external',
    ],
    [
      'the DNS of a cluster on this machine',
      ['run', '--servers', 'cluster-dns'],
      2,
      'cluster-dns is part of a cluster',
      'Add --target kubernetes',
    ],
    [
      'the DNS of a cluster beside another server',
      ['run', '--target', 'kubernetes', '--servers', 'cluster-dns,coredns'],
      2,
      'names of its cluster, which coredns does not have',
      '--servers cluster-dns.',
    ],
    [
      'names of zones for the DNS of a cluster',
      ['run', '--target', 'kubernetes', '--servers', 'cluster-dns', '--workload', 'half'],
      2,
      '"half" is not a workload for cluster-dns',
      'Use one of service, pod-ip, nx, outside',
    ],
    ['a wrong value', ['--tier', 'two'], 2, '--tier: "two"', 'for example 1,2,4'],
    ['a missing configuration file', ['--config', 'no.yaml'], 3, 'no.yaml: does not exist', '--config'],
    [
      'a directory as configuration',
      ['--config', '.'],
      3,
      'configuration file .: is a directory',
      '--config',
    ],
    [
      'a missing query file',
      ['--workload', 'queries.txt'],
      3,
      'not a query file: it does not exist',
      'path of',
    ],
    ['a misspelt workload', ['--workload', 'haff'], 2, 'not a query file: it does not exist', '"half"'],
    ['a directory as workload', ['--workload', '/'], 3, 'not a query file: it is a directory', 'path of'],
    ['a missing server file', ['--servers', 'my=no.yaml'], 3, 'my=no.yaml: does not exist', 'YAML file'],
    [
      'settings beside --resume',
      ['--resume', 'latest', '--tier', '2'],
      2,
      'also given: tier',
      'without --resume',
    ],
    ['a run that does not exist', ['--resume', 'latest'], 6, 'there is no run', 'bench run'],
    ['a report of nothing', ['report', 'nonsense'], 6, 'there is no run "nonsense"', 'bench run'],
    ['a format of a plan', ['--dry-run', '--format', 'csv'], 2, '"csv" must be one of terminal, json', 'fix'],
    [
      'two formats',
      ['--json', '--format', 'csv'],
      2,
      "cannot be used with option '--format",
      'only one of them',
    ],
    ['no run to compare', ['compare'], 2, 'missing required argument', '`bench compare main latest`'],
    ['no run to name', ['history', 'tag'], 2, 'missing required argument', '`bench history tag latest NAME`'],
    ['an unknown format', ['report', 'latest', '--format', 'cvs'], 2, '"cvs"', 'Did you mean "csv"'],
  ])('explains %s', async (_what, argv, status, problem, fix) => {
    expect(await world.bench(...argv)).toBe(status);
    expect(world.err()).toContain(problem);
    expect(world.err()).toContain(fix);
    expect(world.err()).toMatch(/^(?:Note: .*\n)*error \[E_[A-Z_]+\]: /);
    expect(world.err()).toContain('  fix: ');
    expect(world.out()).toBe('');
    expect(await readdir(world.directory)).toEqual([]);
    expect(world.started).toEqual([]);
  });

  it.each(['/proc/nowhere', '/dev/null/runs'])('says that runs cannot be written to %s', async (out) => {
    expect(await world.bench('--servers', 'dinodns', '--out', out)).toBe(7);
    expect(world.err()).toContain('E_WRITE_FAILED');
    expect(world.err()).toContain(out);
    expect(await readdir(world.directory)).toEqual([]);
    expect(world.started).toEqual([]);
  });

  it('says in a plan that runs cannot be written, and makes no directory to find out', async () => {
    const out = '/dev/null/runs';
    expect(await world.bench('--servers', 'dinodns', '--out', out, '--dry-run')).toBe(0);
    expect(world.err()).toContain(`Note: runs cannot be written to ${out}: `);
    expect(await world.bench('--dry-run', '--out', 'not/yet/there')).toBe(0);
    expect(world.err().match(/Note: /g)).toHaveLength(1);
    expect(await readdir(world.directory)).toEqual([]);
  });

  it.each([
    [{ DINODNS_BENCH_TEIR: '2' }, 'Did you mean DINODNS_BENCH_TIER?'],
    // A setting of an experiment.
    [{ DINODNS_BENCH_PRECISON: '2%' }, 'Did you mean DINODNS_BENCH_PRECISION?'],
    [{ DINODNS_BENCH_JSON: '1' }, 'Unset DINODNS_BENCH_JSON.'],
  ])('refuses a variable that is no setting: %j', async (env, fix) => {
    const mistaken = await testWorld({ env });
    try {
      expect(await mistaken.bench('--dry-run')).toBe(2);
      expect(mistaken.err()).toContain(`unknown variable ${Object.keys(env)[0]}\n  fix: ${fix}`);
      // What explains it is not refused.
      expect(await mistaken.bench('run', '--help')).toBe(0);
    } finally {
      await mistaken.remove();
    }
  });

  it('takes the variables of every experiment, and names those without effect on the one at hand', async () => {
    const env = { DINODNS_BENCH_PRECISION: '2%', DINODNS_BENCH_LOADER_CPU: '7', DINODNS_BENCH_TIER: '2' };
    const known = await testWorld({ env });
    const notesOf = async (...argv: string[]) => {
      const before = known.err().length;
      expect(await known.bench(...argv)).toBe(0);
      return known.err().slice(before);
    };
    try {
      expect(await notesOf('--dry-run')).toBe(
        'Note: DINODNS_BENCH_PRECISION has no effect on run.\n' +
          'Note: DINODNS_BENCH_LOADER_CPU has no effect without --target kubernetes.\n',
      );
      const ofMemory = await notesOf('capacity', 'memory', '--dry-run');
      expect(ofMemory).toContain('Note: DINODNS_BENCH_TIER has no effect on capacity memory.\n');
      expect(ofMemory).not.toContain('TRIALS');
      const ofPlan = await notesOf('capacity', 'plan', '--pods', '100', '--services', '10');
      expect(ofPlan).toContain('Note: DINODNS_BENCH_TIER has no effect on capacity plan.\n');
      // Commands that read runs have no settings of a run.
      expect(await notesOf('history')).not.toContain('Note');
    } finally {
      await known.remove();
    }
  });

  it('reads runs where DINODNS_BENCH_OUT says that they are written', async () => {
    const elsewhere = await testWorld({ env: { DINODNS_BENCH_OUT: 'elsewhere' } });
    try {
      expect(await elsewhere.bench('history')).toBe(0);
      expect(await elsewhere.bench('report', 'latest')).toBe(6);
      expect(elsewhere.err().match(/\/elsewhere does not exist/g)).toHaveLength(2);
    } finally {
      await elsewhere.remove();
    }
  });

  it('shows all wrong settings at once', async () => {
    await writeFile(join(world.directory, 'bench.yaml'), 'tier: [0]\ntrails: 3\n');
    expect(await world.bench('--config', 'bench.yaml', '--mode', 'twice')).toBe(2);
    expect(world.err()).toContain('3 settings are wrong');
    expect(world.err()).toContain('did you mean "trials"?');
  });

  it('refuses a record of another program, saying what it looks like', async () => {
    await writeFile(
      join(world.directory, 'results.json'),
      '[{"config":{"TestKind":"dnsperf"},"status":"success"}]',
    );
    expect(await world.bench('report', 'results.json')).toBe(6);
    expect(world.err()).toContain('E_RECORD_FOREIGN');
    expect(world.err()).toContain('tiger-bench');
  });
});

describe('bench without doing anything', () => {
  it('shows help and version on stdout, with the exit statuses', async () => {
    expect(await world.bench('--help')).toBe(0);
    expect(await world.bench('run', '--help')).toBe(0);
    expect(await world.bench('--version')).toBe(0);
    expect(world.err()).toBe('');
    expect(world.out()).toContain('Exit status:');
    expect(world.out()).toContain('--coredns-version <version>');
    expect(world.out()).toMatch(/^\d+\.\d+\.\d+$/m);
  });

  it.each([
    ['run', 'coredns@1.11.3,knot,coredns'],
    ['loss', 'coredns@1.11.3'],
    ['disrupt', 'coredns@1.11.3'],
    ['lookup', 'coredns@1.11.3', '--local'],
    ['capacity memory', 'coredns-cluster@1.11.3'],
    ['capacity survive', 'coredns-cluster@1.11.3'],
    ['capacity throughput', 'coredns-cluster@1.11.3'],
    ['capacity caching', 'coredns-cluster@1.11.3'],
    ['capacity propagation', 'coredns-cluster@1.11.3'],
  ])('says with %s --dry-run which versions it did not look for', async (command, servers, ...more) => {
    const words = [...command.split(' '), '--dry-run', ...more];
    expect(await world.bench(...words, '--servers', servers), world.err()).toBe(0);
    const said = 'Not checked, since a dry run gets nothing: whether there is ';
    expect(world.out().split('\n').slice(-2)).toEqual([`${said}${servers.split(',')[0]}`, '']);
    await world.remove();
    world = await testWorld();
    const [usual = ''] = servers.split('@');
    expect(await world.bench(...words, '--servers', usual, '--coredns-version', '1.12.0')).toBe(0);
    expect(world.out()).toContain(`${said}${usual}@1.12.0\n`);
  });

  it('says nothing of versions with --dry-run where none is named', async () => {
    expect(await world.bench('loss', '--dry-run', '--servers', 'coredns,dinodns')).toBe(0);
    expect(world.out()).not.toContain('Not checked');
  });

  it.each(['run', 'matrix'])(
    'groups the settings of bench %s, and has the rare ones behind --help-all',
    async (command) => {
      expect(await world.bench(command, '--help')).toBe(0);
      const help = world.out();
      expect(await world.bench(command, '--help-all')).toBe(0);
      const whole = world.out().slice(help.length);
      const groups = [...help.matchAll(/^([A-Z][a-z ]+):$/gm)].map(([, group]) => group);
      const settings = ['Servers', 'Load', 'Trials', 'Workload', 'Cluster', 'Output'];
      expect(groups).toEqual([...settings, 'Examples', 'Exit status']);
      const flags = (text: string) => text.match(/^ {2}(?:-h, )?--/gm)?.length ?? 0;
      expect(flags(help)).toBeLessThan(36);
      expect(flags(whole)).toBeGreaterThan(flags(help) + 40);
      expect(whole).toContain('  --loader-cpu <quantity>');
      expect(help).not.toContain('--loader-cpu');
    },
  );

  it('shows the defaults of each command, and the settings that it is about', async () => {
    const helpOf = async (...argv: string[]) => {
      const before = world.out().length;
      expect(await world.bench(...argv, '--help')).toBe(0);
      return world
        .out()
        .slice(before)
        .replace(/\n {10,}/g, ' ');
    };
    expect(await helpOf('run')).toMatch(/--trials <n> .*\(default: 7; on a cluster 3\)$/m);
    const matrix = await helpOf('matrix');
    expect(matrix).toMatch(/--tier <list> .*\(default: 1,2,4\)$/m);
    expect(matrix).toMatch(/--mode <mode> .*\(default: both\)$/m);
    expect(matrix).toMatch(/--trials <n> .*\(default: 3\)$/m);
    const images = await helpOf('images');
    expect(images).toContain('--dinodns-image <image>');
    expect(images).not.toMatch(/--trials|--dry-run|Exit status/);
  });

  it('has examples in its help that can be planned', async () => {
    await writeFile(join(world.directory, 'mine.yaml'), 'command: [mine, --port, "{port}"]\n');
    for (const command of ['run', 'matrix']) {
      const before = world.out().length;
      await world.bench(command, '--help');
      const [, section = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(world.out().slice(before)) ?? [];
      const examples = section.trimEnd().split('\n');
      expect(examples.length).toBe(command === 'run' ? 5 : 3);
      for (const line of examples) {
        const [words = ''] = line.trim().split(/ {2,}/);
        expect(await world.bench(...words.split(' ').slice(1), '--dry-run'), world.err()).toBe(0);
      }
    }
  });

  it('prints the plan of --dry-run, starts nothing and writes nothing', async () => {
    expect(await world.bench('matrix', '--dry-run', '--preset', 'blog')).toBe(0);
    expect(world.out()).toContain('54 trials of 2 s warm-up and 10 min measured time: about 9 h 2 min');
    expect(await readdir(world.directory)).toEqual([]);
    expect(world.started).toEqual([]);
  });

  it('plans seven short trials whatever else is said, a duet if asked, and long trials where the workload is long', async () => {
    // Tests have fewer trials otherwise.
    const free = await testWorld({ env: { DINODNS_BENCH_TRIALS: '', DINODNS_BENCH_CALIBRATE: '' } });
    const planOf = async (...flags: string[]) => {
      const before = free.out().length;
      expect(await free.bench('--dry-run', ...flags)).toBe(0);
      return free.out().slice(before);
    };
    try {
      expect(await planOf()).toContain(
        '21 trials of 1.5 s warm-up and 2.5 s measured time: about 1 min 37 s\nbefore that, about 10 s to choose the load generator\n',
      );
      expect(await planOf('--duet')).toContain(
        '21 trials of 1.5 s warm-up and 1.5 s measured time in 3 slices, with all servers of a point up at once: about',
      );
      const longer = ['--duet', '--slice', '2', '--duration', '4'];
      expect(await planOf(...longer)).toContain(
        '21 trials of 1.5 s warm-up and 4 s measured time in 2 slices',
      );
      expect(await free.bench('--dry-run', '--duet', '--slice', '2')).toBe(2);
      expect(free.err()).toContain('--slice: 2 s is longer than a trial; give --duration 2 or more as well');
      expect(await planOf('--warmup', '3')).toContain(
        '21 trials of 3 s warm-up and 2.5 s measured time: about',
      );
      const single = '7 trials of 1.5 s warm-up and 2.5 s measured time: about';
      expect(await planOf('--servers', 'dinodns')).toContain(single);
      expect(await planOf('--servers', 'dinodns', '--duet')).toContain(single);
      const long = '9 trials of 2 s warm-up and 10 s measured time: about';
      expect(await planOf('--zones', '20000')).toContain(long);
      expect(free.err()).toContain(
        'Note: 3 trials of 10 s of each case, not 7 trials of 2.5 s: the workload "half" has more than 10,000 queries, too many for a few seconds.\n',
      );
      expect(await planOf('--zones', '20000', '--duet=auto')).toContain(long);
    } finally {
      await free.remove();
    }
  });

  it('does not measure a cluster by the CPUs of this machine', async () => {
    const small = await testWorld({ machine: { availableCpus: 1 } });
    try {
      expect(await small.bench('--dry-run', '--tier', '4')).toBe(0);
      expect(small.out()).toContain('contended');
      const before = small.out();
      expect(await small.bench('--dry-run', '--tier', '4', '--target', 'kubernetes')).toBe(0);
      expect(small.out().slice(before.length)).not.toContain('contended');
    } finally {
      await small.remove();
    }
  });

  it('plans the same cases however a query file is named', async () => {
    const path = join(world.directory, 'q.txt');
    await writeFile(path, 'example1.com A\n');
    const plans: string[] = [];
    for (const name of [path, './q.txt', 'q.txt']) {
      expect(await world.bench('--dry-run', '--json', '--servers', 'knot', '--workload', name)).toBe(0);
      plans.push(world.out().slice(plans.join('').length));
    }
    expect(new Set(plans).size).toBe(1);
    expect(JSON.parse(plans[0] ?? '').cases[0].key).toBe('knot/tier=1/single/q.txt/udp');
  });

  it('prints the plan as JSON when asked', async () => {
    expect(await world.bench('--dry-run', '--json', '--servers', 'knot,nsd', '--trials', '1')).toBe(0);
    expect(JSON.parse(world.out()).trials.map((trial: { key: string }) => trial.key)).toEqual([
      'knot/tier=1/single/half/udp#0',
      'nsd/tier=1/single/half/udp#0',
    ]);
  });
});

describe('bench servers and bench doctor', () => {
  it('list every server kind and whether it is here', async () => {
    expect(await world.bench('servers', '--json')).toBe(0);
    const servers: { name: string; available: boolean }[] = JSON.parse(world.out());
    expect(servers.map(({ name }) => name)).toEqual(serverNames());
    expect(servers.find(({ name }) => name === 'dinodns')?.available).toBe(true);
  });

  it('say what is missing, and how it would be got, without getting it', async () => {
    await world.remove();
    world = await testWorld({ env: { PATH: '/nonexistent', XDG_CACHE_HOME: '/nonexistent' } });
    // CoreDNS can be downloaded, and without dnsperf the built-in loader serves.
    expect(await world.bench('doctor', '--json')).toBe(0);
    const findings: { name: string; state: string; found: string; advice: string | null }[] = JSON.parse(
      world.out(),
    );
    const named = (name: string) => findings.find((finding) => finding.name === name);
    expect(named('dnsperf')).toMatchObject({ state: 'notice', found: 'missing' });
    expect(named('loader')?.found).toMatch(/^builtin \d/);
    expect(named('dnsperf')?.advice).toContain('nstall');
    expect(named('coredns')?.advice).toContain('coredns_1.15.0_linux_');
  });
});
