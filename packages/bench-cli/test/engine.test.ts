/** The life of a run, the same for every experiment: plan, trials, failure, Ctrl-C, resuming, statistics, reports, history. */
import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explained } from '../src/cluster-changes/explain.ts';
import type { Lease } from '../src/cluster-changes/lease.ts';
import { LeaseTaken } from '../src/cluster-changes/lease-keeper.ts';
import { ChangeRefused } from '../src/cluster-changes/session.ts';
import { summarizeCases } from '../src/engine/cases.ts';
import { closedAfter } from '../src/engine/close.ts';
import { engineEntry } from '../src/engine/entry.ts';
import { inLanes } from '../src/engine/lanes.ts';
import type { EngineCase } from '../src/engine/record.ts';
import { secondsUnderWay } from '../src/engine/trials.ts';
import { verdictText } from '../src/engine/words.ts';
import { BenchError } from '../src/errors.ts';
import { gate } from '../src/history/gate.ts';
import { selectCases } from '../src/history/select.ts';
import type { Delta } from '../src/results/record.ts';
import { type TestWorld, type TestWorldOptions, testWorld } from './support/test-world.ts';

const HASHES = join(import.meta.dirname, 'fixtures/hashes.ts');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld({ env: { HOME: '/home/somebody' } });
});
afterEach(() => world.remove());

const LAB_HASHES = join(import.meta.dirname, 'fixtures/lab-hashes.ts');

const hashes = (...argv: string[]) => world.bench('--experiment', HASHES, ...argv);

async function runFolders(): Promise<string[]> {
  const names = await readdir(join(world.directory, 'results')).catch(() => []);
  return names.filter((name) => /^\d{8}-/.test(name)).map((name) => join(world.directory, 'results', name));
}

async function onlyFolder(): Promise<string> {
  const [folder, ...others] = await runFolders();
  expect(others).toEqual([]);
  return folder ?? '';
}

const record = async () => JSON.parse(await readFile(join(await onlyFolder(), 'run.json'), 'utf8'));

describe('a run', () => {
  it('takes the trials of a round in turns, saves the record and leaves its reports', async () => {
    expect(await hashes('hashes', '--trials', '3'), world.err()).toBe(0);
    const { status, trials, cases, command, conditions } = await record();
    expect(status).toBe('complete');
    expect(trials.map(({ key }: { key: string }) => key)).toEqual([
      ...['md5#0', 'sha512#0', 'sha512#1', 'md5#1', 'sha512#2', 'md5#2'],
    ]);
    const [md5, sha512] = cases;
    expect(md5).toMatchObject({ trials: { planned: 3, ok: 3, failed: 0 }, comparison: null });
    expect(sha512.comparison.deltas.seconds).toMatchObject({ n: 3, verdict: expect.any(String) });
    expect(command).toBe('pnpm bench hashes');
    expect(conditions).toEqual({ program: 'node:crypto' });
    const folder = await onlyFolder();
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(['closed', 'report.html', 'report.md', 'trials.csv']),
    );
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('## Against MD5');
    expect(world.out()).toMatch(/^Function +Time to hash\nMD5 /m);
    expect(world.err()).toMatch(/6\/6 {2}MD5, trial 3: time to hash \d/);
    expect(world.err()).toMatch(/^node:crypto 1\n2 cases, 6 trials, about 0 s$/m);
  });

  it('is kept where the environment says, and found there again', async () => {
    Object.assign(world.env, { DINODNS_BENCH_OUT: 'elsewhere' });
    expect(await hashes('hashes', '--trials', '1', '--format', 'markdown'), world.err()).toBe(0);
    expect(world.out()).toContain('## Against MD5');
    expect(await hashes('hashes', '--resume', 'latest'), world.err()).toBe(0);
    expect(await readdir(join(world.directory, 'elsewhere'))).toContainEqual(
      expect.stringMatching(/^\d{8}-/),
    );
    expect(await runFolders()).toEqual([]);
  });

  it('is planned, and nothing else, with --dry-run', async () => {
    expect(await hashes('hashes', '--dry-run', '--aa')).toBe(0);
    expect(world.out()).toBe('md5  MD5\nsha512  SHA512\nmd5(aa)  MD5, A/A\n3 cases, 9 trials, about 0 s\n');
    expect(await runFolders()).toEqual([]);
  });

  it('prints its record with --json, with paths that mean something elsewhere', async () => {
    expect(await hashes('hashes', '--trials', '1', '--json')).toBe(0);
    expect(JSON.parse(world.out())).toEqual(await record());
    expect(world.out()).toContain('home is ~/x');
  });

  it('takes settings from a file and the environment, and names the command that repeats it', async () => {
    await writeFile(join(world.directory, 'bench.yaml'), 'trials: 1\nfunctions: [sha1, sha256]\n');
    Object.assign(world.env, { DINODNS_BENCH_TRIALS: '2' });
    expect(await hashes('hashes', '--config', 'bench.yaml'), world.err()).toBe(0);
    expect((await record()).command).toBe('pnpm bench hashes --trials 2 --functions sha1,sha256');
  });

  it.each([
    [['--trials', '0'], '--trials: "0"'],
    [['--functions', 'md5,md5'], '--functions: md5,md5 names something twice'],
    [['--max-time', '10'], '--max-time: has no effect without --until'],
    [['--nodes', 'a'], '--nodes: has no effect without --target kubernetes; add that, or omit it'],
    [['--format', 'xml'], '--format: "xml" must be one of '],
  ])('refuses %j with one message and its fix', async (flags, message) => {
    expect(await hashes('hashes', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.err().match(/error \[/g)).toHaveLength(1);
    expect(world.err()).toContain('fix: ');
    expect(await runFolders()).toEqual([]);
  });
});

describe('a trial that fails', () => {
  it('is a result with its reason, and the run goes on', async () => {
    expect(await hashes('hashes', '--trials', '2', '--failing', 'sha512#0')).toBe(5);
    const { status, trials, cases } = await record();
    expect(status).toBe('complete');
    expect(trials[1]).toMatchObject({ status: 'failed', failure: { code: 'E_SERVER_DIED' } });
    expect(cases[1].trials).toEqual({ planned: 2, ok: 1, failed: 1 });
    expect(world.out()).toContain('SHA512, trial 1 failed: sha512#0 died');
    expect(world.out()).toContain('1 of 4 trials failed.');
  });

  it('fails the rest of its case if an answer was wrong, since asking again does not mend it', async () => {
    expect(await hashes('hashes', '--trials', '3', '--wrong', 'sha512#0')).toBe(5);
    const { trials } = await record();
    const failures = trials.flatMap(
      ({ failure }: { failure?: { message: string } }) => failure?.message ?? [],
    );
    expect(failures).toEqual(['sha512#0 is wrong', 'sha512#0 is wrong', 'sha512#0 is wrong']);
  });
});

describe('Ctrl-C', () => {
  it('keeps what was measured, and the run goes on where it was', async () => {
    const running = hashes('hashes', '--trials', '2', '--wait', 'sha512#1');
    await world.errContains('2/4');
    world.send('SIGINT');
    expect(await running).toBe(130);
    const before = await record();
    expect(before.status).toBe('interrupted');
    expect(before.trials).toHaveLength(2);
    expect(await readdir(await onlyFolder())).toContain('closed');
    expect(world.err()).toContain(`2 trials saved in ${await onlyFolder()}`);
    expect(world.err()).toContain(`pnpm bench hashes --resume ${before.id}`);

    expect(await hashes('hashes', '--resume', 'latest', '--trials', '3')).toBe(2);
    expect(world.err()).toContain('also given: trials');
    const { wait, ...settings } = before.settings;
    expect(wait).toEqual(['sha512#1']);
    await writeFile(join(await onlyFolder(), 'run.json'), JSON.stringify({ ...before, settings }));
    expect(await hashes('hashes', '--resume', before.id), world.err()).toBe(0);
    const after = await record();
    expect(after).toMatchObject({ id: before.id, status: 'complete' });
    expect(after.trials).toHaveLength(4);
    expect(after.trials.slice(0, 2)).toEqual(before.trials);
  });

  it('names the place of a run that is not in the usual one, also when it is resumed, and asks the environment nothing else', async () => {
    const started = hashes('hashes', '--trials', '2', '--wait', 'sha512#1,md5#1', '--out', 'kept here');
    await world.errContains('2/4');
    world.send('SIGINT');
    expect(await started).toBe(130);
    const [id = ''] = (await readdir(join(world.directory, 'kept here'))).filter((name) => /^\d/.test(name));
    expect(world.err()).toContain(`--resume ${id} --out 'kept here'`);
    Object.assign(world.env, { DINODNS_BENCH_TRIALS: 'many' });
    const before = world.err().length;
    const resumed = hashes('hashes', '--resume', `kept here/${id}`);
    await world.errContains('2 cases, 2 trials');
    world.send('SIGINT');
    expect(await resumed).toBe(130);
    expect(world.err().slice(before)).toContain(
      `--resume ${id} --out '${join(world.directory, 'kept here')}'`,
    );
  });

  it('is heard while the reports are written, which are finished', async () => {
    const { rename } = world.fs;
    Object.assign(world.fs, {
      rename: (from: string, to: string) => {
        if (to.endsWith('report.md')) world.send('SIGINT');
        return rename(from, to);
      },
    });
    expect(await hashes('hashes'), world.err()).toBe(0);
    expect(await readdir(await onlyFolder())).toContain('report.html');
    expect((await record()).status).toBe('complete');
  });

  it('keeps what long trials have found so far, side by side and without any that has ended, and they go on from it', async () => {
    const running = hashes('hashes', '--trials', '1', '--lanes', '2', '--keeping', 'md5#0,sha512#0');
    await world.errContains('1/2  MD5, trial 1: half of it is kept');
    await world.errContains('2/2  SHA512, trial 1: half of it is kept');
    // As SIGKILL would leave it: neither has undone what the other kept.
    const unfinished = { 'md5#0': { halves: ['md5#0'] }, 'sha512#0': { halves: ['sha512#0'] } };
    expect(await record()).toMatchObject({ status: 'running', trials: [], unfinished });
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(await record()).toMatchObject({ status: 'interrupted', trials: [], unfinished });
    expect(world.err()).toContain(`0 trials, 2 in part saved in ${await onlyFolder()}`);
    expect(await hashes('report', 'latest'), world.err()).toBe(0);
    expect(world.out()).toContain('interrupted; 0 of 2 trials.');
    expect(await hashes('history'), world.err()).toBe(0);

    expect(await hashes('hashes', '--resume', 'latest'), world.err()).toBe(0);
    expect(world.err()).toContain('2/2  SHA512, trial 1: goes on from {"halves":["sha512#0"]}');
    const { status, trials, ...rest } = await record();
    expect(status).toBe('complete');
    expect(trials).toHaveLength(2);
    expect(rest).not.toHaveProperty('unfinished');
  });

  it('leaves nothing behind before the first trial', async () => {
    const running = hashes('hashes', '--wait', 'md5#0');
    await world.errContains('Note: home');
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(await runFolders()).toEqual([]);
  });
});

describe('lanes', () => {
  it('take trials side by side, keep their order, and keep what has ended when the run is interrupted', async () => {
    const running = hashes('hashes', '--trials', '2', '--lanes', '2', '--wait', 'md5#0');
    await world.errContains('4/4  MD5, trial 2: time');
    world.send('SIGINT');
    expect(await running).toBe(130);
    const { trials, status } = await record();
    expect(status).toBe('interrupted');
    expect(trials.map(({ key }: { key: string }) => key)).toEqual(['sha512#0', 'sha512#1', 'md5#1']);
    expect(world.err()).toContain('3 trials saved');
  });

  it('are told by the plan', async () => {
    expect(await hashes('hashes', '--dry-run', '--lanes', '3')).toBe(0);
    expect(world.out()).toContain('6 trials, up to 3 side by side, about ');
  });

  it('take their time once', () => {
    const trial = (begin: number, end: number) => ({
      startedAt: new Date(begin * 1000).toISOString(),
      endedAt: new Date(end * 1000).toISOString(),
    });
    expect(secondsUnderWay([])).toBe(0);
    expect(secondsUnderWay([trial(20, 30), trial(0, 10), trial(2, 4), trial(5, 15)])).toBe(25);
  });

  it('hold what fits together, the first that does next', async () => {
    const trial = (key: string, weight: number) => ({
      key,
      case: { key, subject: key, point: { weight }, expectedSeconds: 1 },
      round: 0,
      order: 0,
    });
    const log: string[] = [];
    const planned = [trial('a', 3), trial('b', 4), trial('c', 2), trial('d', 9)];
    const { signal } = new AbortController();
    await inLanes(planned, {
      lanes: 3,
      fits: (cases) => cases.reduce((sum, { point }) => sum + Number(point.weight), 0) <= 5,
      signal,
      casesOf: (each) => [each.case],
      take: async ({ key }) => log.push(key),
      onEnd: async ({ key }) => void log.push(`/${key}`),
    });
    expect(log.slice(0, 2)).toEqual(['a', 'c']);
    expect(log.at(-1)).toBe('/d');
    const failing = inLanes(planned, {
      lanes: 3,
      signal,
      casesOf: (each) => [each.case],
      take: async ({ key }) => {
        if (key === 'a') throw new Error('disk is full');
        return key;
      },
      onEnd: async (_, key) => void log.push(`kept ${key}`),
    });
    await expect(failing).rejects.toThrow('disk is full');
    expect(log.slice(-2)).toEqual(['kept b', 'kept c']);
  });
});

describe('trials that are taken together', () => {
  it('are those of a point in a round, of which all are kept or none, with what they warn of', async () => {
    const flags = ['--trials', '2', '--together', '--wait', 'md5#1'];
    const running = hashes('hashes', ...flags);
    await world.errContains('2/4  SHA512, trial 1: time to hash 1.00 s');
    world.send('SIGINT');
    expect(await running).toBe(130);
    const before = await record();
    expect(before.trials.map(({ evidence }: { evidence: { bytes: number } }) => evidence.bytes)).toEqual([
      2, 2,
    ]);
    expect(before.warnings).toContain('hashed with others');
    const { wait, ...settings } = before.settings;
    expect(wait).toEqual(['md5#1']);
    // As if one of the first round had been lost as well.
    const left = { ...before, settings, trials: before.trials.slice(1) };
    await writeFile(join(await onlyFolder(), 'run.json'), JSON.stringify(left));
    expect(await hashes('hashes', '--resume', 'latest'), world.err()).toBe(0);
    const after = await record();
    expect(after.trials.map(({ key }: { key: string }) => key)).toEqual([
      ...['md5#0', 'sha512#0', 'sha512#1', 'md5#1'],
    ]);
    expect(after.trials[1].startedAt).not.toBe(before.trials[1].startedAt);
    expect(after.warnings.filter((text: string) => text === 'hashed with others')).toHaveLength(1);
  });
});

describe('a command of several words', () => {
  const lab = (...argv: string[]) => world.bench('--experiment', LAB_HASHES, 'lab', 'hashes', ...argv);

  it('has its help, its settings from the environment, and the command that repeats it', async () => {
    expect(await lab('--help')).toBe(0);
    expect(world.out()).toContain('Usage: bench lab hashes');
    expect(world.out()).toContain('DINODNS_BENCH_<NAME>');
    Object.assign(world.env, { DINODNS_BENCH_TRIALS: '1' });
    expect(await lab('--functions', 'sha1'), world.err()).toBe(0);
    expect(await record()).toMatchObject({
      experiment: 'lab-hashes',
      command: 'pnpm bench lab hashes --trials 1 --functions sha1',
    });
  });

  it('names itself in errors and where a run goes on', async () => {
    expect(await lab('--nothing')).toBe(2);
    expect(world.err()).toContain('`bench lab hashes --help`');
    const running = lab('--wait', 'sha512#1', '--out', 'elsewhere');
    await world.errContains('2/6');
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(world.err()).toMatch(/pnpm bench lab hashes --resume \S+ --out elsewhere/);
  });
});

describe('a disk that is full', () => {
  it('ends the run with a clear error, and the last whole record stays', async () => {
    let saves = 0;
    const { open } = await import('node:fs/promises');
    const fs: TestWorldOptions['fs'] = {
      open: async (path, ...rest) => {
        if (String(path).includes('run.json')) saves += 1;
        if (saves > 2)
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        return open(path, ...rest);
      },
    };
    await world.remove();
    world = await testWorld({ fs });
    expect(await hashes('hashes', '--trials', '2')).toBe(7);
    expect(world.err()).toContain('E_DISK_FULL');
    expect((await record()).trials).toHaveLength(2);
    expect((await readdir(await onlyFolder())).filter((name) => name.includes('tmp'))).toEqual([]);
  });
});

describe('what the trials share', () => {
  it('ends the run when it is lost; what was measured is kept as interrupted', async () => {
    expect(await hashes('hashes', '--trials', '2', '--lost', 'sha512#0')).toBe(3);
    const { status, trials } = await record();
    expect(status).toBe('interrupted');
    expect(trials.map(({ key }: { key: string }) => key)).toEqual(['md5#0']);
    expect(world.err()).toContain('the Lease is gone; 1 trial saved in');
  });

  it('is closed whole if a step fails, and no error hides another', async () => {
    const flags = ['--trials', '2', '--lost', 'sha512#0', '--closing', 'a door,a tap'];
    expect(await hashes('hashes', ...flags)).toBe(3);
    expect(world.err()).toContain('the Lease is gone; a tap is stuck; a door is stuck; 1 trial saved');
    expect(world.err()).toContain('Wait. Free a tap. Free a door.');
    expect(await readdir(await onlyFolder())).toContain('closed');
  });

  it('that cannot be opened or closed again says both', async () => {
    expect(await hashes('hashes', '--lost', 'open', '--closing', 'a door')).toBe(3);
    expect(world.err()).toContain('error [E_LEASE_LOST]: the Lease is gone; a door is stuck');
    expect(await runFolders()).toEqual([]);
  });

  it('that was opened before an error is closed, and neither error hides the other', async () => {
    const failed = (code: 'E_CLUSTER_FORBIDDEN' | 'E_POD_TIMEOUT', message: string) =>
      new BenchError(code, message, { fix: `Mend it: ${message}.` });
    const first = failed('E_CLUSTER_FORBIDDEN', 'no right to create a Role');
    const stuck = () => Promise.reject(failed('E_POD_TIMEOUT', 'the namespace is still there'));
    await expect(closedAfter(first, stuck)).rejects.toMatchObject({
      code: 'E_CLUSTER_FORBIDDEN',
      message: 'no right to create a Role; the namespace is still there',
      fix: 'Mend it: no right to create a Role. Mend it: the namespace is still there.',
    });
    await expect(closedAfter(first, async () => undefined)).rejects.toBe(first);
  });

  it('that cannot be closed after the last trial costs no report', async () => {
    expect(await hashes('hashes', '--trials', '1', '--closing', 'a door')).toBe(7);
    expect((await record()).status).toBe('complete');
    expect(world.out()).toContain('MD5');
    expect(await readdir(await onlyFolder())).toEqual(expect.arrayContaining(['closed', 'report.md']));
    expect(world.err()).toContain('a door is stuck');
    expect(world.err()).not.toContain('--resume');
  });
});

it('a refused change of a cluster is explained, and so is what closing failed with after it', async () => {
  const taken = new LeaseTaken({ holder: 'somebody', renewedAt: 'noon' } as Lease);
  const act = async () => {
    throw new SuppressedError(new ChangeRefused('the Deployment was changed'), taken);
  };
  await expect(explained(act)).rejects.toMatchObject({
    code: 'E_CLUSTER_BUSY',
    message: expect.stringMatching(/^somebody is changing the cluster, .*; the Deployment was changed$/),
    fix: expect.stringMatching(/^Wait for its end.*Find out who writes it/),
  });
});

describe('a run that was killed', () => {
  it('is not called complete, and can be resumed', async () => {
    expect(await hashes('hashes', '--trials', '2')).toBe(0);
    const { trials, ...rest } = await record();
    const folder = await onlyFolder();
    // As SIGKILL leaves it: every save is a whole record of a run under way.
    const killed = { ...rest, trials: trials.slice(0, 3), status: 'running', endedAt: null };
    await writeFile(join(folder, 'run.json'), JSON.stringify(killed));
    expect(await hashes('report', 'latest')).toBe(0);
    expect(world.out()).toContain('not finished; 3 of 4 trials.');
    expect(await hashes('hashes', '--resume', 'latest')).toBe(0);
    const { status, trials: all } = await record();
    expect(status).toBe('complete');
    expect(all.slice(0, 3)).toEqual(trials.slice(0, 3));
    expect(all).toHaveLength(4);
  });
});

describe('a resumed run', () => {
  /** A run with one trial left, as another machine, cluster or time would have left it. */
  const unfinished = async (changes: object = {}, ...flags: string[]) => {
    expect(await hashes('hashes', '--trials', '1', ...flags), world.err()).toBe(0);
    const found = await record();
    const [first] = found.trials;
    const left = { ...found, trials: [first], status: 'interrupted', ...changes };
    await writeFile(join(await onlyFolder(), 'run.json'), JSON.stringify(left));
    return found;
  };
  const resumed = () => hashes('hashes', '--resume', 'latest');
  const kubeconfig = async (servers: Readonly<Record<string, string>>) => {
    const names = Object.keys(servers);
    const path = join(world.directory, 'kubeconfig');
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': names.at(-1) },
      clusters: names.map((name) => ({ name, cluster: { server: servers[name] } })),
      users: [{ name: 'user', user: {} }],
      contexts: names.map((name) => ({ name, context: { cluster: name, user: 'user' } })),
    };
    await writeFile(path, JSON.stringify(config));
    Object.assign(world.env, { KUBECONFIG: path });
  };
  const onCluster = async () => {
    const { environment } = await unfinished();
    const cluster = {
      ...{ version: 'v1.34.0', provider: null, context: 'first', server: 'https://first.example:6443' },
      ...{ openshiftVersion: null, cni: null, proxyMode: null, nodes: [] },
    };
    const left = { ...(await record()), environment: { ...environment, cluster } };
    await writeFile(join(await onlyFolder(), 'run.json'), JSON.stringify(left));
  };

  it('goes on with its own cluster, whatever the current context is', async () => {
    await onCluster();
    await kubeconfig({ first: 'https://first.example:6443', second: 'https://second.example:6443' });
    expect(await resumed(), world.err()).toBe(0);
    expect(world.err()).toContain('cluster of first');
  });

  it('does not go on where the context is another cluster', async () => {
    await onCluster();
    await kubeconfig({ first: 'https://other.example:6443' });
    expect(await resumed()).toBe(2);
    expect(world.err()).toContain(
      'at https://first.example:6443, but context "first" of the kubeconfig is now https://other.example:6443',
    );
    expect((await record()).trials).toHaveLength(1);
  });

  it.each(['cwd', 'home'])('finds its files below %s again', async (place) => {
    if (place === 'home') Object.assign(world.env, { HOME: '/home/somebody' });
    const file = place === 'home' ? '/home/somebody/q.txt' : join(world.directory, 'q.txt');
    await unfinished({}, '--file', file);
    expect(await resumed(), world.err()).toBe(0);
    const { trials, settings } = await record();
    expect(trials).toHaveLength(2);
    expect(settings.file).toBe(place === 'home' ? '~/q.txt' : 'q.txt');
  });

  it('does not go on with another plan', async () => {
    const { settings } = await unfinished();
    const others = { ...settings, functions: ['sha1', 'sha512'] };
    await writeFile(
      join(await onlyFolder(), 'run.json'),
      JSON.stringify({ ...(await record()), settings: others }),
    );
    expect(await resumed()).toBe(2);
    expect(world.err()).toContain('cannot be resumed: its settings now make another plan');
    expect(world.err()).toContain('it has trials of md5, which is no longer planned');
    expect(world.err()).toContain('it compares with md5, not with sha1');
    expect((await record()).trials).toHaveLength(1);
  });

  it('does not go on with programs of other versions', async () => {
    await unfinished();
    Object.assign(world.env, { CRYPTO: '2' });
    const [out, err] = [world.out().length, world.err().length];
    expect(await resumed()).toBe(2);
    expect(world.err()).toContain('crypto: 1 in the record, now 2');
    // Nothing was measured: no report is made again, and nobody is told to do the same once more.
    expect(world.err().slice(err)).not.toMatch(/Written:|Continue with/);
    expect(world.out().slice(out)).toBe('');
    expect((await record()).trials).toHaveLength(1);
    expect(await readdir(await onlyFolder())).toContain('closed');
  });

  it('is read again once nobody else can write it', async () => {
    const whole = await unfinished();
    const path = join(await onlyFolder(), 'run.json');
    const { open } = world.fs;
    let isChanged = false;
    // Another bench ends the run just before this one has the lock.
    const other: typeof open = async (file, ...rest) => {
      if (String(file).includes('lock,') && !isChanged) {
        isChanged = true;
        await writeFile(path, JSON.stringify(whole));
      }
      return open(file, ...rest);
    };
    Object.assign(world.fs, { open: other });
    expect(await resumed(), world.err()).toBe(0);
    expect(isChanged).toBe(true);
    expect((await record()).trials).toEqual(whole.trials);
  });

  it('that is complete opens nothing, and shows its reports', async () => {
    expect(await hashes('hashes', '--trials', '1', '--format', 'markdown'), world.err()).toBe(0);
    const before = await record();
    const folder = await onlyFolder();
    await rm(join(folder, 'closed'));
    expect(await resumed(), world.err()).toBe(0);
    expect(world.err()).toContain('The run is complete: there is nothing to resume.');
    expect(await readdir(folder)).not.toContain('closed');
    expect(await record()).toEqual(before);
    expect(world.out()).toMatch(/^Function +Time to hash\nMD5 /m);
  });

  it('says which conditions have changed, and what is to be known now', async () => {
    await unfinished();
    Object.assign(world.env, { PROGRAM: 'openssl', HOME: '/home/other' });
    expect(await resumed(), world.err()).toBe(0);
    const { warnings, conditions } = await record();
    expect(conditions).toEqual({ program: 'node:crypto' });
    expect(warnings).toContain('resumed where program is openssl, not node:crypto as before');
    expect(warnings).toHaveLength(2);
  });

  it('says that it is another bench', async () => {
    const { environment, generator } = await unfinished();
    const git = { commit: '1234567', branch: null, dirty: true };
    const left = { ...(await record()), environment: { ...environment, git } };
    await writeFile(join(await onlyFolder(), 'run.json'), JSON.stringify(left));
    expect(await resumed(), world.err()).toBe(0);
    expect((await record()).warnings.join()).toMatch(
      new RegExp(
        `resumed where dinodns-bench is .*, not ${generator.version}, commit 1234567 with local changes as`,
      ),
    );
  });
});

describe('comparisons', () => {
  it('--until goes on until each has a verdict, or a limit says how it ended', async () => {
    expect(await hashes('hashes', '--trials', '2', '--until', 'verdict:0.01%', '--max-trials', '5')).toBe(0);
    const { until, trials } = await record();
    expect(until).toMatchObject({ goal: 'verdict' });
    expect(until.reached || until.limit === 'rounds').toBe(true);
    expect(trials.length).toBeGreaterThanOrEqual(8);
  });

  it('--until goes on until a gate decides, or a limit says how it ended', async () => {
    expect(await hashes('hashes', '--trials', '2', '--until', 'gate:5%', '--max-trials', '12')).toBe(0);
    const found = await record();
    const entry = engineEntry(found, '');
    const [md5, sha512] = ['md5', 'sha512'].map((subject) => selectCases(entry, { subject }));
    if (md5 === undefined || sha512 === undefined) throw new Error('no case');
    const limits = entry.estimands
      .filter(({ compared, awaited = true }) => compared !== 'no' && awaited)
      .map((estimand) => ({ estimand, maxRegression: 0.05 }));
    const { cases } = gate(md5, sha512, { limits, interval: 'auto', normalize: null });
    const reached = cases.every(({ outcome }) => outcome === 'passed' || outcome === 'failed');
    expect(found.until).toMatchObject({ goal: 'gate', reached });
    expect(found.until.reached || found.until.limit === 'rounds').toBe(true);
  });

  it('--aa measures the baseline against itself, beside the others', async () => {
    expect(await hashes('hashes', '--trials', '4', '--aa')).toBe(0);
    const { cases } = await record();
    expect(cases.map(({ key, aa }: { key: string; aa: boolean }) => [key, aa])).toEqual([
      ...[
        ['md5', false],
        ['sha512', false],
        ['md5(aa)', true],
      ],
    ]);
    expect(cases[2].comparison.baseline).toBe('md5');
    expect(world.out()).toContain('A/A: the baseline against itself');
  });

  it('allow for what others took during the trials, except from memory', () => {
    const [rounds, taken] = [8, [0.02, 0.9, 0.1, 0.6, 0.3, 0, 0.8, 0.2]];
    const estimand = { better: 'more', compared: 'ratio' } as const;
    const planned = ['slow', 'fast'].map((subject) => ({
      ...{ key: subject, subject, point: {}, aa: false, expectedSeconds: 1 },
    }));
    const trials = planned.flatMap(({ key }, at) =>
      Array.from({ length: rounds }, (_, round) => {
        // The servers suffer alike, but not in the same rounds.
        const others = taken[(round + 3 * at) % rounds] ?? 0;
        const noise = 1 + 0.01 * Math.sin(7 * round + 3 * at);
        const rate = (at === 0 ? 1000 : 1100) * Math.exp(-1.2 * others) * noise;
        return {
          ...{ key: `${key}#${round}`, case: key, round, order: round, startedAt: '', endedAt: '' },
          ...{ status: 'ok' as const, bounds: [], evidence: null, taken: others },
          figures: { rate, memory: rate * 1000 },
        };
      }),
    );
    const cases = summarizeCases(planned, rounds, {
      ...{ id: 'run', baseline: 'slow', trials },
      estimands: [
        { ...estimand, name: 'rate', title: 'rate', unit: 'queries/s' },
        { ...estimand, name: 'memory', title: 'memory', unit: 'bytes' },
      ],
    });
    const { rate, memory } = cases[1]?.comparison?.deltas ?? {};
    if (rate == null || memory == null || !('relative' in rate) || !('relative' in memory))
      throw new Error('no ratio');
    expect(rate.relative).toBeCloseTo(0.1, 1);
    expect(rate.verdict).toBe('faster');
    expect(rate.allowance?.slope).toBeCloseTo(-1.2, 1);
    const width = ({ low, high }: { low: number | null; high: number | null }) => (high ?? 0) - (low ?? 0);
    expect(width(rate)).toBeLessThan(0.2 * width(rate.allowance?.plain ?? { low: 0, high: 0 }));
    expect(memory.allowance).toBeNull();
    expect(memory.verdict).toBe('no difference shown');
  });

  it('say of a bounded figure that beats the baseline that it is at least so much better', () => {
    const rate = {
      name: 'rate',
      title: 'rate',
      unit: 'queries/s',
      better: 'more',
      compared: 'ratio',
    } as const;
    const item = { key: 'b', bounds: { rate: 1 }, comparison: null } as unknown as EngineCase;
    const delta = { relative: 0.75, low: 0.6, high: 0.9, verdict: 'faster' } as Delta;
    expect(verdictText({ trials: [] } as never, rate, item, delta).replaceAll('\u00a0', ' ')).toBe(
      'higher, ≥ +75 % [+60, +90]',
    );
    const open = { verdict: 'no difference shown', undecided: 'correction', comparisons: 3 } as const;
    const alone = { ...delta, ...open };
    expect(verdictText({ trials: [] } as never, rate, { ...item, bounds: {} }, alone)).toContain(
      'no difference shown after correction for 3 comparisons, +75',
    );
  });

  it('say nothing of a figure that something else bounded, unless it is better in spite of that', async () => {
    expect(await hashes('hashes', '--trials', '6', '--bounded', 'md5')).toBe(0);
    expect((await record()).cases[1].comparison.deltas.seconds).toBeNull();
    expect(world.out()).toContain('≤');
    expect(world.out()).not.toMatch(/\b(faster|slower|lower|higher)\b/);
  });
});

describe('what an experiment dictates', () => {
  it('is the order and the number of rounds, and what a dry run says first', async () => {
    expect(await hashes('hashes', '--blocks', '2'), world.err()).toBe(0);
    const keys = (await record()).trials.map(({ key }: { key: string }) => key);
    expect(keys).toEqual(['md5#0', 'sha512#0', 'md5#1', 'sha512#1']);
    expect(await hashes('hashes', '--blocks', '2', '--dry-run')).toBe(0);
    expect(world.out()).toContain(
      'Blocks are kept.\n\nmd5  MD5\nsha512  SHA512\n2 cases, 4 trials, about 0 s\n',
    );
  });

  it('may be that a failed trial is the last: the run ends with its reason, saved, reported and closed', async () => {
    expect(await hashes('hashes', '--trials', '2', '--last', 'sha512#0')).toBe(5);
    const { status, trials, closing } = await record();
    expect(status).toBe('interrupted');
    expect(trials.map(({ key, status: how }: Record<string, string>) => [key, how])).toEqual([
      ['md5#0', 'ok'],
      ['sha512#0', 'failed'],
    ]);
    expect(closing).toEqual(['Everything is as before.']);
    expect(world.err()).toContain('E_CLUSTER_CHANGED]: sha512#0 was the last; 2 trials saved in');
    expect(world.err()).toMatch(/fix: None\. Continue with: pnpm bench hashes --resume/);
    expect(world.err()).toContain('Everything is as before.');
    expect(world.out()).toContain('interrupted; 2 of 4 trials.');
    expect(world.out()).toContain('At the end');
    expect(await readFile(join(await onlyFolder(), 'report.md'), 'utf8')).toContain('## At the end');
  });

  it('are differences of figures in their own unit, corrected as one family', async () => {
    expect(await hashes('hashes', '--trials', '4', '--lengths'), world.err()).toBe(0);
    const { deltas } = (await record()).cases[1].comparison;
    const each = { n: 4, comparisons: 2, pValue: 0, detectable: 0, verdict: 'more', undecided: null };
    expect(deltas.bytes).toMatchObject({ difference: 48, low: 48, high: 48, ...each });
    expect(deltas.bits).toMatchObject({ difference: 384, ...each });
    expect(deltas.seconds).toMatchObject({ comparisons: 1, relative: expect.any(Number) });
    expect(world.out().replaceAll('\u00a0', ' ')).toContain('Bytes: higher, +48 [+48, +48]');
    // Only what is awaited is told while it runs.
    expect(world.err()).toContain('trial 4: bits 128, time to hash');
  });
});

describe('runs of any experiment', () => {
  const runs = async (...flags: string[][]) => {
    const ids: string[] = [];
    for (const flag of flags) {
      expect(await hashes('hashes', '--trials', '6', ...flag), world.err()).toBe(0);
      const all = (await runFolders()).map((folder) => basename(folder));
      ids.push(...all.filter((id) => !ids.includes(id)));
    }
    return ids;
  };
  const said = async (...argv: string[]) => {
    const before = world.out().length;
    const status = await hashes(...argv);
    return { status, out: world.out().slice(before) };
  };
  const json = async (...argv: string[]) => JSON.parse((await said(...argv, '--json')).out);

  it('are compared by their estimands, as one run or as several', async () => {
    const [first = '', second = '', third = ''] = await runs([], [], []);
    const [paired] = await json('compare', `${first}:subject=md5`, `${first}:server=sha512`);
    expect(paired).toMatchObject({
      paired: true,
      cases: [{ label: 'sha512 against md5, size 1', figures: [{ metric: 'seconds', delta: { n: 6 } }] }],
    });
    // As the run itself says it.
    const { cases } = JSON.parse(await readFile(join(world.directory, 'results', first, 'run.json'), 'utf8'));
    const { relative, verdict } = cases[1].comparison.deltas.seconds;
    expect(paired.cases[0].figures[0].delta).toMatchObject({ relative, verdict });
    const [two] = await json('compare', first, second);
    expect(two.cases.map(({ label }: { label: string }) => label)).toEqual(['md5, size 1', 'sha512, size 1']);
    expect(two).toMatchObject({ paired: false, cases: [{ figures: [{ trials: [6, 6] }] }, {}] });
    const [pooled] = await json('compare', `${first}+${second}`, third);
    expect(pooled.cases[0].figures[0].trials).toEqual([12, 6]);
    const [relativeTo] = await json('compare', first, second, '--normalize', 'md5');
    expect(relativeTo.cases[0].figures[0]).toMatchObject({ reference: 1, candidate: 1 });
    expect((await said('compare', first, second)).out).toMatch(/^Time to hash.* \d/m);
  });

  it('have a trend and a gate, with limits by estimand', async () => {
    const [first = '', second = ''] = await runs([], []);
    const { metric, lines } = await json('trend');
    expect(metric).toBe('seconds');
    expect(
      lines.map(({ subject, experiment, points }: { subject: string; experiment: string; points: [] }) => [
        subject,
        experiment,
        points.length,
      ]),
    ).toEqual([
      ['md5', 'hashes', 2],
      ['sha512', 'hashes', 2],
    ]);
    expect((await said('trend', '--select', 'subject=md5')).out).toMatch(/^hashes: md5, size 1 on /m);
    const gated = await json(
      'gate',
      second,
      '--against',
      first,
      '--max-regression',
      'seconds=99%',
      '--select',
      'subject=md5',
    );
    expect(gated.cases).toMatchObject([{ label: 'md5, size 1', metric: 'seconds', maxRegression: 0.99 }]);
    expect(gated.cases[0].trials).toEqual([6, 6]);
    const { out } = await said('gate', second, '--against', first);
    expect(out).toMatch(/Time to hash.*, at most 3% worse/);
  });

  it('are compared by differences where the experiment is', async () => {
    const [first = '', second = ''] = await runs(['--lengths'], ['--lengths']);
    const sides = [`${first}:subject=md5`, `${first}:subject=sha512`];
    const bytes = { metric: 'bytes', reference: 16, candidate: 64 };
    const delta = { difference: 48, low: 48, high: 48, verdict: 'more' };
    const [paired] = await json('compare', ...sides, '--metric', 'bytes');
    expect(paired.cases).toMatchObject([{ figures: [{ ...bytes, delta: { ...delta, n: 6 } }] }]);
    const [unpaired] = await json('compare', sides[0] ?? '', `${second}:subject=sha512`, '--metric', 'bytes');
    expect(unpaired.cases).toMatchObject([
      { figures: [{ ...bytes, delta: { ...delta, method: 'rank-sum' } }] },
    ]);
    expect((await said('compare', ...sides, '--metric', 'bytes')).out).toMatch(/\+48 \[\+48, \+48\] +more$/m);
    const gated = await json('gate', second, '--against', first, '--max-regression', 'bytes=1%');
    expect(gated.outcome).toBe('passed');
    for (const end of ['regression', 'low', 'high']) expect(gated.cases[0][end]).toBeCloseTo(0, 9);
  });

  it('say nothing of a bounded figure: neither compare nor gate', async () => {
    const [first = '', second = ''] = await runs(['--bounded', 'md5'], []);
    const [{ cases }] = await json('compare', `${first}:subject=md5`, second);
    expect(cases).toMatchObject([
      { figures: [{ isBound: [true, false], delta: { undecided: 'not limited by the servers' } }] },
    ]);
    const { out } = await said('gate', second, '--against', first, '--select', 'subject=md5');
    expect(out).toMatch(/^Cannot tell: not the server's limit in run /);
    const text = out.replaceAll(/\s+/g, ' ');
    expect(text).toContain('something other than the server limited it.');
    expect(text).toContain('measure with --saturate or at a --rate, or judge --metric cpu.');
    expect(text).not.toContain('--trials');
  });

  it.each([
    [['--metric', 'secnods'], 'Did you mean "seconds"?'],
    [['--metric', 'qps'], 'Choose from seconds'],
    [['--max-regression', 'qps=3%'], 'Choose from seconds'],
    [['--select', 'colour=red'], 'with the names server, size, subject'],
  ])('list what they have where something else is asked for: %j', async (flags, fix) => {
    const [first = '', second = ''] = await runs([], []);
    expect((await said('gate', second, '--against', first, ...flags)).status).toBe(2);
    expect(world.err()).toContain(fix);
  });
});

describe('an experiment of a user', () => {
  it('is in the help and in the history, and its reports can be made again', async () => {
    expect(await hashes('--help')).toBe(0);
    expect(world.out()).toMatch(/^ {2}hashes .*the time of hash functions/m);
    expect(await hashes('hashes', '--trials', '1')).toBe(0);
    expect(await hashes('history')).toBe(0);
    expect(world.out()).toMatch(/complete {2}2 trials · .*\n.* {2}hashes/);
    expect(await hashes('report', 'latest', '--format', 'csv')).toBe(0);
    expect(world.out()).toContain('md5,md5,1,0,ok,');
  });

  it('is needed to read its records', async () => {
    expect(await hashes('hashes', '--trials', '1')).toBe(0);
    const folder = await onlyFolder();
    const { id, ...rest } = await record();
    await writeFile(join(folder, 'run.json'), JSON.stringify({ id, ...rest, experiment: 'unknown' }));
    expect(await world.bench('report', 'latest')).not.toBe(0);
    expect(world.err()).toContain('bench --experiment FILE');
  });

  it.each([
    ['none.ts', 'cannot be loaded'],
    ['empty.ts', 'its default export is no experiment'],
  ])('%s is refused if it is none', async (file, message) => {
    await writeFile(join(world.directory, 'empty.ts'), 'export default 1;\n');
    expect(await world.bench('--experiment', file, 'run')).toBe(2);
    expect(world.err()).toContain(message);
    await expect(access(join(world.directory, 'results'))).rejects.toThrow();
  });
});
