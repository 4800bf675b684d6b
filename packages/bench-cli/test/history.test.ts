/** The history over records on disk: entries, naming of runs, comparisons, trends and gates, through the whole CLI. */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readAnyEntry } from '../src/commands/history-options.ts';
import { comparedEstimand } from '../src/history/entry.ts';
import { listRuns } from '../src/history/listing.ts';
import type { RunRecord } from '../src/results/record.ts';
import { asDuet, makeRecord } from './fixtures/make-record.ts';
import { referenceText } from './support/reference.ts';
import { noise } from './support/simulate.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const results = () => join(world.directory, 'results');

interface RunInput {
  /** Default: ordinary trials. */
  duet?: boolean;
  id: string;
  /** QPS of each trial by server. */
  qps: Readonly<Record<string, readonly number[]>>;
  branch?: string | null;
  commit?: string;
  environment?: Partial<RunRecord['environment']>;
  record?: Partial<RunRecord>;
}

async function saveRun({
  id,
  qps,
  branch = 'main',
  commit,
  environment,
  record,
  duet = false,
}: RunInput): Promise<void> {
  const ordinary = makeRecord({
    cases: Object.entries(qps).map(([server, values]) => ({
      server,
      trials: values.map((value) => ({ qps: value })),
    })),
  });
  const base = duet ? asDuet(ordinary) : ordinary;
  const date = `${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}`;
  const startedAt = `${date}T${id.slice(9, 11)}:${id.slice(11, 13)}:${id.slice(13, 15)}.000Z`;
  const whole: RunRecord = {
    ...base,
    id,
    startedAt,
    environment: {
      ...base.environment,
      git: { commit: commit ?? '0123456789abcdef0123456789abcdef01234567', branch, dirty: false },
      ...environment,
    },
    ...record,
  };
  await mkdir(join(results(), id), { recursive: true });
  await writeFile(join(results(), id, 'run.json'), JSON.stringify(whole));
}

const around = (level: number, count: number, seed: string, scatter = 0.01) => {
  const { normal } = noise(seed);
  return Array.from({ length: count }, () => level * Math.exp(scatter * normal()));
};

/** Runs the CLI and returns what it printed in this call alone. */
async function bench(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const [out, err] = [world.out().length, world.err().length];
  const status = await world.bench(...argv);
  return { status, out: world.out().slice(out), err: world.err().slice(err) };
}

function fits(text: string): void {
  for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
}

const OLD = '20261101-120000-aaaa';
const NEW = '20261102-120000-bbbb';

describe('runs that are moved', () => {
  const RUNS = ['20261101-120000-aaaa', '20261102-120000-bbbb'];
  const listed = async (...flags: string[]) => {
    const { out } = await bench('history', '--json', ...flags);
    return JSON.parse(out).map(({ id }: { id: string }) => id);
  };

  it.each([
    ['the results', (folder: string) => [folder, `${folder}-moved`, `${folder}-moved`]],
    ['one run', (folder: string) => [join(folder, RUNS[0] ?? ''), join(folder, 'renamed'), folder]],
  ])('stay in the history: %s', async (_what, move) => {
    for (const id of RUNS) await saveRun({ id, qps: { coredns: around(1000, 3, id) } });
    expect(await listed()).toEqual(RUNS.toReversed());
    const [from = '', to = '', out = ''] = move(results());
    await rename(from, to);
    for (let time = 0; time < 2; time++) {
      expect(await listed('--out', out)).toEqual(RUNS.toReversed());
      expect((await bench('compare', 'latest', 'latest', '--out', out)).status).toBe(0);
    }
  });
});

describe('bench history', () => {
  it('lists runs, the newest first, and filters them', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2], dinodns: [3, 4] } });
    await saveRun({ id: NEW, qps: { coredns: [1, 2], knot: [3, 4] }, branch: 'feature' });
    const { status, out } = await bench('history');
    expect(status).toBe(0);
    expect(out.indexOf(NEW)).toBeGreaterThanOrEqual(0);
    expect(out.indexOf(NEW)).toBeLessThan(out.indexOf(OLD));
    expect(out).toContain('coredns, knot · 2 cases · feature@01234567');
    fits(out);
    const ids = async (...flags: string[]) =>
      JSON.parse((await bench('history', '--json', ...flags)).out).map((run: { id: string }) => run.id);
    expect(await ids('--server', 'knot')).toEqual([NEW]);
    expect(await ids('--branch', 'main')).toEqual([OLD]);
    expect(await ids('--since', '2026-11-02')).toEqual([NEW]);
    // In UTC, whatever the machine's own zone is.
    vi.stubEnv('TZ', 'America/New_York');
    for (const moment of ['2026-11-02T11:59', '2026-11-02T11:59Z', '2026-11-02T06:59-05:00'])
      expect(await ids('--since', moment)).toEqual([NEW]);
    vi.unstubAllEnvs();
    expect(await ids('--before', '2026-11-02')).toEqual([OLD]);
    expect(await ids('--limit', '1')).toEqual([NEW]);
    expect(await ids('--kind', 'imported')).toEqual([]);
    expect((await bench('history', '--server', 'nsd')).err).toContain('None of 2 runs');
  });

  it('says how to begin where there is nothing, and makes no folder', async () => {
    const { status, out, err } = await bench('history');
    expect([status, out]).toEqual([0, '']);
    expect(err).toContain('bench run');
    expect(await readdir(world.directory)).toEqual([]);
  });

  it('follows records that come, change and go, and skips those that cannot be read', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    await bench('history');
    await saveRun({ id: NEW, qps: { coredns: [1, 2] } });
    await saveRun({ id: OLD, qps: { coredns: [1, 2], nsd: [7, 8] } });
    await mkdir(join(results(), 'broken'));
    await writeFile(join(results(), 'broken', 'run.json'), '{"schemaVersion"');
    const { out } = await bench('history');
    expect(out).toContain('coredns, nsd');
    expect(out).toContain(NEW);
    await rm(join(results(), NEW), { recursive: true });
    expect((await bench('history')).out).not.toContain(NEW);
    const rebuilt = await bench('history', 'rebuild');
    expect(rebuilt.out).toContain('Read 2 records');
    expect(rebuilt.err).toContain('broken/run.json');
  });

  it('reads reference runs one folder deeper, and old records', async () => {
    const folder = join(results(), 'reference', 'old');
    await mkdir(folder, { recursive: true });
    const text = await readFile(join(import.meta.dirname, 'fixtures/records/stored.json'), 'utf8');
    await writeFile(join(folder, 'run.json'), text);
    const { id } = JSON.parse(text);
    expect((await bench('history')).out).toContain(id);
    expect(
      (await bench('compare', `${id}:server=coredns`, 'results/reference/old:server=dinodns')).status,
    ).toBe(0);
  });

  it('means the run among its own, not the copy in a folder of published ones', async () => {
    for (const id of [NEW, `reference/${NEW}`, `kept/${NEW}`])
      await saveRun({ id, qps: { coredns: [1, 2] }, record: { id: NEW } });
    expect((await bench('report', NEW)).err).toContain(`Written: results/${NEW}/`);
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['garbage', (path) => writeFile(path, 'this is no JSON')],
    ['an empty file', (path) => writeFile(path, '')],
    ['that of another version', (path) => writeFile(path, '{"version":0,"stamp":"","run":{}}')],
    ['gone', (path) => rm(path)],
    ['older than its record', (path) => writeFile(join(path, '../run.json'), `${' '.repeat(9)}{"a":1}`)],
  ])('makes an entry anew that is %s', async (what, change) => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    await bench('history');
    const path = join(results(), OLD, 'entry.json');
    const whole = await readFile(path, 'utf8');
    await change(path);
    if (what.startsWith('older')) {
      await saveRun({ id: OLD, qps: { coredns: [1, 2], knot: [1, 2] } });
      expect((await bench('history')).out).toContain('coredns, knot');
      return;
    }
    const { status, out, err } = await bench('history');
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain(OLD);
    expect(await readFile(path, 'utf8')).toBe(whole);
  });

  it('reads no record that has an entry', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    await bench('history');
    const read = vi.spyOn(world.fs, 'readFile');
    await bench('history');
    expect(read.mock.calls.map(([path]) => basename(String(path)))).toEqual(['entry.json']);
  });

  it('lists also where no entry can be written', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    await mkdir(join(results(), OLD, 'entry.json'));
    for (let time = 0; time < 2; time++) {
      const { status, out, err } = await bench('history');
      expect([status, err]).toEqual([0, '']);
      expect(out).toContain(OLD);
    }
  });

  it.each([
    ['history'],
    ['trend'],
    ['compare', OLD, NEW],
    ['open', OLD],
    ['report', OLD, '--format', 'json'],
  ])('says of every record that cannot be read that it was skipped: bench %s', async (...argv) => {
    Object.assign(world.env, { BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' });
    for (const id of [OLD, NEW]) await saveRun({ id, qps: { coredns: [1, 2] } });
    for (let number = 0; number < 5; number++) {
      await mkdir(join(results(), `broken${number}`));
      await writeFile(join(results(), `broken${number}`, 'run.json'), '{"schemaVersion"');
    }
    const { status, err } = await bench(...argv);
    expect(status).toBe(0);
    expect(err).toContain('broken2/run.json');
    expect(err).toContain('Skipped 2 more records: bench history rebuild names them');
  });

  it('lists ten thousand runs within seconds, however busy the machine is', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2], dinodns: [3, 4] } });
    await bench('history');
    const [record, entry] = await Promise.all(
      ['run.json', 'entry.json'].map((name) => readFile(join(results(), OLD, name), 'utf8')),
    );
    const { run, ...file } = JSON.parse(entry ?? '');
    for (let number = 0; number < 10_000; number++) {
      const id = `20260101-000000-${number}`;
      const path = join(results(), id, 'run.json');
      await mkdir(join(results(), id));
      await writeFile(path, record ?? '');
      const { size, mtimeMs } = await stat(path);
      const own = { ...file, stamp: `${size} ${mtimeMs}`, run: { ...run, id } };
      await writeFile(join(results(), id, 'entry.json'), JSON.stringify(own));
    }
    const start = process.cpuUsage();
    const { runs } = await listRuns(world, results(), () => Promise.reject(new Error('no record is read')));
    // CPU time, because other tests take the machine: on a calm one, it lists them within two seconds.
    const { user, system } = process.cpuUsage(start);
    expect(runs).toHaveLength(10_001);
    expect((user + system) / 1e6).toBeLessThan(6);
  }, 120_000);

  it('takes several benches at the same time', async () => {
    for (let day = 1; day <= 12; day++) {
      const id = `202611${String(day).padStart(2, '0')}-120000-aaaa`;
      await saveRun({ id, qps: { coredns: [day, day + 1] } });
    }
    const cli = join(import.meta.dirname, '../src/main.ts');
    const run = (...argv: string[]) =>
      new Promise<{ code: number | null; err: string }>((resolve) => {
        const child = spawn(process.execPath, [cli, ...argv, '--out', results()], {
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let err = '';
        child.stderr.on('data', (chunk) => {
          err += chunk;
        });
        child.on('close', (code) => resolve({ code, err }));
      });
    const ended = await Promise.all([
      run('history'),
      run('history', 'rebuild'),
      run('history'),
      run('history'),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const { runs } = await listRuns(world, results(), (path) => readAnyEntry(world, path));
    expect(runs).toHaveLength(12);
    const left = await readdir(results(), { recursive: true });
    expect(left.filter((name) => name.includes('tmp'))).toEqual([]);
  }, 60_000);

  it('finds the run of a tag, a branch and a commit for reports, pages and --resume', async () => {
    // No page is shown.
    Object.assign(world.env, { BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' });
    await saveRun({ id: OLD, qps: { coredns: [1, 2] }, branch: 'feature/x', commit: 'abcdef0123456789' });
    await saveRun({ id: NEW, qps: { coredns: [1, 2] } });
    await bench('history', 'tag', OLD, 'good');
    for (const name of ['good', 'feature/x', 'abcdef0', OLD.slice(0, 8)]) {
      expect(await bench('report', name, '--format', 'json'), name).toMatchObject({ status: 0 });
      expect(JSON.parse((await bench('report', name, '--format', 'json')).out).id, name).toBe(OLD);
      expect((await bench('open', name)).out, name).toContain(join(OLD, 'report.html'));
      expect((await bench('run', '--resume', name, '--dry-run')).out, name).toContain('baseline coredns');
    }
    expect(JSON.parse((await bench('report', 'latest', '--format', 'json')).out).id).toBe(NEW);
  });

  it('finds the newest of a fresh clone, which are published ones, and one of its own before those', async () => {
    await saveRun({
      id: `reference/${NEW}`,
      qps: { coredns: [1, 2] },
      record: { id: NEW, startedAt: '2026-11-02T12:00:00.000Z' },
    });
    expect(JSON.parse((await bench('report', 'latest', '--format', 'json')).out).id).toBe(NEW);
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    expect(JSON.parse((await bench('report', 'latest', '--format', 'json')).out).id).toBe(OLD);
    expect((await readdir(join(results(), OLD))).toSorted()).toEqual(['entry.json', 'run.json']);
  });

  const EVERY_COMMAND: readonly [readonly string[]][] = [
    [['report', 'RUN']],
    [['compare', OLD, 'RUN']],
    [['gate', OLD, '--against', 'RUN']],
    [['gate', 'RUN', '--against', OLD]],
    [['history', 'tag', 'RUN', 'good']],
    [['run', '--resume', 'RUN', '--dry-run']],
    [['reproduce', 'blog', 'RUN']],
    [['reproduce', 'lookup', 'RUN']],
    [['reproduce', 'scaling', 'RUN']],
    [['capacity', 'plan', '--pods', '5', '--services', '5', '--basis', 'RUN']],
    [['site', 'RUN', '--out', 'pages', '--results', 'results']],
  ];

  it.each(EVERY_COMMAND)('are the same in every command: bench %j', async (argv) => {
    const told = async (name: string) =>
      (await bench(...argv.map((word) => (word === 'RUN' ? name : word)))).err;
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    const record = { id: NEW, startedAt: '2026-11-02T12:00:00.000Z' };
    await saveRun({ id: 'reference/blue', qps: { coredns: [1, 2] }, record });
    await bench('history', 'tag', OLD, 'sky');
    for (const name of [
      'sky',
      'latest',
      NEW,
      NEW.slice(0, 8),
      'main',
      '0123456',
      'blue',
      'results/reference/blue',
    ])
      expect(await told(name), name).not.toContain('there is no run "');
    const err = await told('nowhere');
    expect(err).toContain('there is no run "nowhere"');
    expect(err).toContain(`${OLD}  main  coredns\n`);
    expect(await told('2026110')).toContain('2 runs begin with "2026110"');
  });

  it('tell nothing where no record can be read, but why', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    const path = join(results(), OLD, 'run.json');
    await writeFile(`${path}.gz`, gzipSync(await readFile(path)).subarray(0, 100));
    await rm(path);
    const why = `Skipped ${path}.gz: is truncated\n`;
    for (const argv of [['report', 'latest'], ['compare', 'latest', 'main'], ['history']]) {
      const { err } = await bench(...argv);
      expect(err).toContain(why);
      expect(err.toLowerCase()).toContain(
        `no run in ${results().toLowerCase()} can be read: it has 1 record, skipped for the reason above`,
      );
    }
    const { err } = await bench('report', OLD);
    expect(err).toContain(`${path}.gz is truncated`);
    expect(err).toContain('fix: Restore the file from a copy, or measure again');
  });

  it('compares two trials by both differences, or without an interval if they are not pairs', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1000, 1000], dinodns: [900, 1200] } });
    await saveRun({ id: NEW, qps: { coredns: [1000, 1200] } });
    const told = async (...sides: readonly string[]) =>
      (await bench('compare', ...sides, '--metric', 'qps')).out.replaceAll('\u00a0', ' ');
    expect(await told(`${OLD}:server=coredns`, `${OLD}:server=dinodns`)).toContain(' -10.0 % / +20.0 % ');
    expect(await told(`${OLD}:server=coredns`, NEW)).toMatch(/ \+\d+\.\d %, two trials /);
  });

  it('resumes the newest run of the same experiment', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] }, branch: 'feature/x' });
    const loss = JSON.parse(referenceText('local-loss'));
    const { environment } = loss;
    const git = { ...environment.git, branch: 'feature/x' };
    await mkdir(join(results(), NEW));
    const other = {
      ...loss,
      id: NEW,
      startedAt: '2026-11-02T12:00:00.000Z',
      environment: { ...environment, git },
    };
    await writeFile(join(results(), NEW, 'run.json'), JSON.stringify(other));
    expect(JSON.parse((await bench('report', 'feature/x', '--format', 'json')).out).id).toBe(NEW);
    for (const name of ['feature/x', 'latest'])
      expect(await bench('run', '--resume', name, '--dry-run'), name).toMatchObject({
        ...{ status: 0, out: expect.stringContaining('baseline coredns') },
      });
  });

  it('gives runs names that outlive their entries', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    await saveRun({ id: NEW, qps: { coredns: [1, 2] } });
    expect((await bench('history', 'tag', OLD, 'v1.0')).out).toContain(`v1.0 is run ${OLD}`);
    await rm(join(results(), OLD, 'entry.json'));
    // What is no file names nothing.
    await mkdir(join(results(), 'tags', 'folder'));
    expect((await bench('history', '--tag', 'v1.0')).out).toContain(', v1.0');
    expect((await bench('history', 'tag', 'latest', 'v1.0')).out).toContain(NEW);
    expect((await bench('history', 'tag', NEW, 'no/slash')).status).toBe(2);
    expect((await bench('history', 'tag', 'x', 'v1.0', '--remove')).status).toBe(0);
    expect((await bench('history', 'tag', 'x', 'v1.0', '--remove')).err).toContain('no run is named');
  });

  it.each<[string, string[], string]>([
    ['a date', ['--since', 'yesterday'], '"yesterday" is not a date'],
    ['a limit', ['--limit', '0'], '"0" must be a whole number'],
    ['a kind', ['--kind', 'runs'], 'must be one of run, imported'],
  ])('explains %s that is wrong', async (_what, argv, problem) => {
    const { status, err, out } = await bench('history', ...argv);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(problem);
  });
});

describe('bench compare', () => {
  it('compares two runs case by case, and names every difference of the machine', async () => {
    await saveRun({ id: OLD, qps: { coredns: around(1000, 6, 'a'), dinodns: around(2000, 6, 'b') } });
    await saveRun({
      id: NEW,
      qps: { coredns: around(1000, 6, 'c'), dinodns: around(2400, 6, 'd') },
      environment: { kernel: '6.9.9', cpuModel: 'Other CPU' },
    });
    const { status, out } = await bench('compare', OLD, NEW, '--metric', 'qps');
    expect(status).toBe(0);
    expect(out).toMatch(
      /dinodns, tier 1, single, half, udp\n.*verdict\nQueries per second .* \+20 % .* faster/,
    );
    expect(out).toMatch(/coredns, tier 1, single, half, udp\n.*verdict\nQueries per second .* not shown/);
    expect(out).toContain('• kernel: 6.1.0 → 6.9.9');
    expect(out).toContain('• cpuModel: Example CPU @ 2.00GHz → Other CPU');
    expect(out).toContain('The environments differ: any of this may be the reason');
    fits(out);
    const [json] = JSON.parse((await bench('compare', OLD, NEW, '--json')).out);
    expect(json).toMatchObject({ reference: OLD, candidate: NEW, paired: false });
    expect(json.differences.map(({ name }: { name: string }) => name)).toEqual(['kernel', 'cpuModel']);
    expect(json.cases[1].figures[0].delta).toMatchObject({
      method: 'rank-sum',
      verdict: 'faster',
      comparisons: 2,
    });
    expect(json.cases[1].figures[0].delta.effectSize).toEqual({
      measure: 'cliffs-delta',
      value: 1,
      magnitude: 'large',
    });
  });

  it('names another version of bench, which is no difference of the machine', async () => {
    await saveRun({ id: OLD, qps: { coredns: around(1000, 6, 'a') } });
    const generator = { name: 'dinodns-bench', version: '99.0.0' } as const;
    await saveRun({ id: NEW, qps: { coredns: around(1000, 6, 'b') }, record: { generator } });
    const { out } = await bench('compare', OLD, NEW);
    expect(out).toMatch(/^Programs or settings differ$/m);
    expect(out).toMatch(/dinodns-bench: \S+ → 99\.0\.0/);
  });

  it('pairs trials of the same run, for sets of cases', async () => {
    await saveRun({ id: OLD, qps: { coredns: [100, 200, 300, 400], dinodns: [110, 221, 329, 441] } });
    const { out } = await bench('compare', 'latest:server=coredns', 'latest:server=dinodns', '--json');
    const [json] = JSON.parse(out);
    expect(json).toMatchObject({ paired: true });
    expect(json.cases[0]).toMatchObject({ label: 'dinodns against coredns, tier 1, single, half, udp' });
    // Unpaired, the drift of the machine would hide it.
    expect(json.cases[0].figures[0].delta.verdict).toBe('faster');
    const text = (await bench('compare', 'latest:server=coredns', 'latest:server=dinodns')).out;
    expect(text).toContain('paired by round');
    // As reports call it: less CPU is not speed.
    expect(text).toMatch(/CPU time per query .* less$/m);
    fits(text);
  });

  it('pools runs into one side, and says where they differ among themselves', async () => {
    const [first, second, third] = ['20260101-000000-aaaa', '20260102-000000-bbbb', '20260103-000000-cccc'];
    await saveRun({ id: first, qps: { coredns: around(1000, 4, 'a'), dinodns: around(2000, 4, 'x') } });
    await saveRun({ id: second, qps: { coredns: around(1000, 4, 'b'), dinodns: around(2000, 4, 'y') } });
    await saveRun({
      id: third,
      qps: { coredns: around(1000, 8, 'c'), dinodns: around(2400, 8, 'z') },
      environment: { kernel: '6.9.9' },
    });
    const [json] = JSON.parse((await bench('compare', `${first}+${second}`, third, '--json')).out);
    expect(json).toMatchObject({ reference: `${first}+${second}`, paired: false, pooled: [] });
    expect(json.differences).toEqual([{ name: 'kernel', values: ['6.1.0', '6.9.9'] }]);
    const figureOf = (value: typeof json, index: number) => value.cases[index].figures[0];
    expect(figureOf(json, 0)).toMatchObject({ trials: [8, 8], delta: { verdict: 'no difference shown' } });
    expect(figureOf(json, 1)).toMatchObject({ trials: [8, 8], delta: { verdict: 'faster' } });

    // The same runs on both sides are pairs, each trial with that of its own run and round.
    const sides = ['coredns', 'dinodns'].map(
      (server) => `${second}:server=${server}+${first}:server=${server}`,
    );
    const [paired] = JSON.parse((await bench('compare', ...sides, '--metric', 'qps', '--json')).out);
    expect(paired).toMatchObject({ paired: true, cases: [{ figures: [{ delta: { n: 8 } }] }] });
    const [normal] = JSON.parse(
      (await bench('compare', `${first}+${second}`, third, '--normalize', 'coredns', '--json')).out,
    );
    expect(figureOf(normal, 1).trials).toEqual([8, 8]);

    const { out } = await bench('compare', `${first}+${third}`, second, '--metric', 'qps');
    expect(out.replaceAll(/\n +/g, ' ')).toMatch(
      /dinodns\S+: queries per second of the pooled runs \S+aaaa and \S+cccc differ \(p [<\d.]+\), so the interval and its verdict claim too much/,
    );
    expect(out).toContain('• kernel: 6.1.0 and 6.9.9 → 6.1.0');
    fits(out);
    const twice = await bench('compare', `${first}+${first}`, second);
    expect(twice).toMatchObject({ status: 2 });
    expect(twice.err).toContain('cannot count twice');
    const shared = await bench('compare', `${first}+${second}`, second);
    expect(shared).toMatchObject({ status: 2 });
    expect(shared.err).toContain(`run ${second} is on both sides`);
  });

  it('takes out the speed of the machine with --normalize', async () => {
    await saveRun({ id: OLD, qps: { coredns: around(1000, 6, 'a'), dinodns: around(1500, 6, 'b') } });
    await saveRun({ id: NEW, qps: { coredns: around(2000, 6, 'c'), dinodns: around(3000, 6, 'd') } });
    const read = async (...flags: string[]) => {
      const [json] = JSON.parse(
        (await bench('compare', OLD, NEW, '--metric', 'qps', '--json', ...flags)).out,
      );
      return json.cases[1].figures[0].delta;
    };
    expect((await read()).relative).toBeCloseTo(1, 1);
    expect((await read('--normalize', 'coredns')).verdict).toBe('no difference shown');
    const text = (await bench('compare', OLD, NEW, '--normalize', 'coredns')).out;
    expect(text).toContain('Figures are ratios to coredns');
    fits(text);
  });

  it('warns that a duet and ordinary trials are two different measurements', async () => {
    await saveRun({ id: OLD, qps: { coredns: around(1000, 6, 'a') } });
    await saveRun({ id: NEW, qps: { coredns: around(1300, 6, 'b') }, duet: true });
    const { status, out } = await bench('compare', OLD, NEW);
    expect(status).toBe(0);
    const flat = out.replaceAll(/\n */g, ' ');
    expect(flat).toContain('! These are two different measurements');
    expect(flat).toContain('First: one server at a time; second: a duet, slices of 0.5 s.');
    expect(flat).toContain('• trials: one server at a time → a duet, slices of 0.5 s');
    const markdown = (await bench('compare', OLD, NEW, '--format', 'markdown')).out;
    expect(markdown.indexOf('two different')).toBeLessThan(markdown.indexOf('faster'));
    fits(out);
    const [json] = JSON.parse((await bench('compare', NEW, OLD, '--json')).out);
    expect(json.differentTrials).toEqual(['a duet, slices of 0.5 s', 'one server at a time']);

    const third = '20261103-120000-cccc';
    await saveRun({ id: third, qps: { coredns: around(1300, 6, 'c') }, duet: true });
    const alike = await bench('compare', NEW, third);
    expect(alike.out).not.toContain('different measurements');
    expect(alike.out).not.toContain('trials:');
    const pooled = (await bench('compare', `${OLD}+${NEW}`, third)).out.replaceAll(/\n */g, ' ');
    expect(pooled).toContain(
      `Of the pooled runs, ${NEW} is a duet and ${OLD} measured one server at a time.`,
    );
  });

  it('compares more than two with the first', async () => {
    await saveRun({ id: OLD, qps: { coredns: [1000, 1001] } });
    await saveRun({ id: NEW, qps: { coredns: [1000, 1001] } });
    const { out } = await bench('compare', OLD, NEW, OLD, '--json');
    expect(JSON.parse(out).map(({ candidate }: { candidate: string }) => candidate)).toEqual([NEW, OLD]);
  });

  it.each<[string, string[], number, string, string]>([
    ['one run', ['latest'], 2, 'needs at least two runs', 'bench compare main latest'],
    ['no such run', ['latest', 'nonsense'], 6, 'there is no run "nonsense"', 'a git branch or a commit'],
    ['a pool without its second run', ['latest+', OLD], 2, '"" names no run', 'RUN+RUN'],
    [
      'a colon without a selector',
      ['latest:', OLD],
      2,
      '"latest:" ends before its selector',
      'RUN:server=NAME',
    ],
    ['no such run by a slip', ['latest', 'mian'], 6, 'there is no run "mian"', 'Did you mean "main"'],
    [
      'an unknown figure',
      ['latest', OLD, '--metric', 'qsp'],
      2,
      'unknown figure "qsp"',
      'Did you mean "qps"? Choose from qps, ',
    ],
    ['an unknown selector', [`latest:sever=coredns`, OLD], 2, '"sever=coredns"', 'Did you mean "server"'],
    ['no such case', [`latest:server=nsd`, OLD], 2, 'has no case with server=nsd', 'Choose from its cases'],
    [
      'no case in common',
      [`latest:server=coredns`, OLD],
      2,
      'no case in common',
      'differ in only one respect',
    ],
    [
      'an unknown interval',
      ['latest', OLD, '--interval', 'wide'],
      2,
      '"wide" must be auto',
      'docs/method.md',
    ],
    [
      'a server that is not there',
      ['latest', NEW, '--normalize', 'nsd'],
      2,
      'has no server "nsd"',
      'this one has',
    ],
  ])('explains %s', async (_what, argv, status, problem, fix) => {
    await saveRun({ id: OLD, qps: { knot: [1, 2, 3], unbound: [1, 2, 3] } });
    await saveRun({ id: NEW, qps: { coredns: [1, 2, 3], dinodns: [1, 2, 3] } });
    const answer = await bench('compare', ...argv);
    expect(answer.status).toBe(status);
    expect(answer.err).toContain(problem);
    expect(answer.err).toContain(fix);
    expect(answer.out).toBe('');
  });

  it('explains figures that are not in both', async () => {
    const trials = [{ qps: 1000, memoryBytes: null }];
    const other = makeRecord({ cases: [{ server: 'coredns', trials }] });
    await saveRun({ id: OLD, qps: { coredns: [1000] } });
    await saveRun({
      id: NEW,
      qps: { coredns: [1000] },
      record: { trials: other.trials, cases: other.cases },
    });
    const { status, err } = await bench('compare', OLD, NEW, '--metric', 'memory');
    expect(status).toBe(2);
    expect(err).toContain('no figure in common');
  });
});

describe('bench trend', () => {
  it('draws a line over time with its change points, and one for each machine', async () => {
    const { normal } = noise('trend');
    for (let day = 1; day <= 14; day++) {
      const level = (day <= 7 ? 1000 : 1200) * Math.exp(0.01 * normal());
      const id = `202611${String(day).padStart(2, '0')}-120000-aaaa`;
      await saveRun({ id, qps: { dinodns: around(level, 3, id), coredns: around(500, 3, `${id}c`) } });
    }
    await saveRun({
      id: '20261120-120000-aaaa',
      qps: { dinodns: [9, 9, 9] },
      environment: { hostname: 'other' },
    });
    const { status, out } = await bench('trend', '--server', 'dinodns', '--metric', 'qps');
    expect(status).toBe(0);
    expect(out.replaceAll(/\n */g, ' ')).toMatch(
      /rose by (19|20|21)\.\d % with the run of 2026-11-08 12:00 \(p <?0\.00\d+\)\./,
    );
    expect(out).toMatch(/2026-11-08 .*\n +new level\n2026-11-09/);
    expect(out).toContain('dinodns, tier 1, single, half, udp on other, Example CPU');
    expect(out).toMatch(/├─*●─*┤/);
    fits(out);
    const json = JSON.parse((await bench('trend', '--server', 'dinodns', '--json')).out);
    expect(json.lines.map(({ points }: { points: unknown[] }) => points.length)).toEqual([14, 1]);
    expect(json.lines[0].changes).toMatchObject([{ position: 7 }]);
    const relative = JSON.parse(
      (await bench('trend', '--server', 'dinodns', '--normalize', 'coredns', '--json')).out,
    );
    expect(relative.lines[0].points[0].median).toBeCloseTo(2, 0);
  });

  it.each<[string, string[], number, string]>([
    ['no such server', ['--server', 'nsd'], 2, 'no run with --server nsd has that figure'],
    ['two figures', ['--metric', 'qps,cpu'], 2, 'a trend shows one figure'],
    ['an unknown figure', ['--metric', 'mem'], 2, 'unknown figure "mem"'],
    ['a server to relate to that is not there', ['--normalize', 'nsd'], 2, 'no run also measured nsd'],
  ])('explains %s', async (_what, argv, status, problem) => {
    await saveRun({ id: OLD, qps: { coredns: [1, 2] } });
    const answer = await bench('trend', ...argv);
    expect(answer.status).toBe(status);
    expect(answer.err).toContain(problem);
    expect(answer.out).toBe('');
  });

  it('draws figures of different load generators as different lines', async () => {
    await saveRun({ id: OLD, qps: { coredns: [100, 101] } });
    await saveRun({
      id: NEW,
      qps: { coredns: [200, 201] },
      record: { loader: { kind: 'builtin', version: '1' } },
    });
    const { lines } = JSON.parse((await bench('trend', '--json')).out);
    expect(lines.map(({ machine }: { machine: string }) => machine.split(', ').at(-1)).sort()).toEqual([
      'load from builtin',
      'load from dnsperf',
    ]);
  });

  it('draws duets and ordinary trials as different lines', async () => {
    await saveRun({ id: OLD, qps: { coredns: [100, 101] } });
    await saveRun({ id: NEW, qps: { coredns: [200, 201] }, duet: true });
    const { out } = await bench('trend');
    expect(out).toMatch(/load from dnsperf\nrun .*\n2026-11-01/);
    expect(out).toMatch(/load from\s+dnsperf, in a duet\nrun .*\n2026-11-02/);
  });

  it('explains an empty history', async () => {
    const { status, err } = await bench('trend', '--server', 'dinodns');
    expect(status).toBe(6);
    expect(err).toContain('bench run');
  });
});

describe('bench gate', () => {
  const before = () => saveRun({ id: OLD, qps: { dinodns: around(1000, 8, 'before') } });
  const after = (level: number, count = 8) =>
    saveRun({ id: NEW, qps: { dinodns: around(level, count, 'after') }, branch: 'feature' });

  it('fails only where the interval leaves out the tolerance', async () => {
    await before();
    await after(900);
    const { status, out } = await bench('gate', '--against', 'main', '--max-regression', '3%');
    expect(status).toBe(9);
    expect(out).toMatch(
      /^Failed: run 20261102-120000-bbbb against run 20261101-120000-aaaa\n\nQueries per second, at most 3% worse\n/,
    );
    expect(out).toMatch(/ \d+\.\d % worse +[\d.]+ to [\d.]+ % worse +8 \/ 8 +failed, p <?0\.0\d+$/m);
    fits(out);
    // However close the tolerance is to the end of the interval, the text does not contradict the outcome.
    const [json] = JSON.parse((await bench('gate', '--against', 'main', '--json')).out).cases;
    const close = `${(json.low * 100 - 0.01).toFixed(4)}%`;
    const text = (await bench('gate', '--against', 'main', '--max-regression', close)).out;
    const [, low] = / ([\d.]+) to [\d.]+ % worse .* failed/.exec(text) ?? [];
    expect(Number(low), text).toBeGreaterThan(Number.parseFloat(close));
    expect((await bench('gate', '--against', 'main', '--max-regression', '20%')).status).toBe(0);
  });

  it('passes where it cannot be worse than that', async () => {
    await before();
    await after(1000);
    const { status, out } = await bench('gate', '--against', 'main', '--max-regression', '3%', '--strict');
    expect(status).toBe(0);
    expect(out).toMatch(/^Passed: /);
  });

  it('says "not enough trials" where nobody can know, and fails only with --strict', async () => {
    await before();
    await after(970, 3);
    const { status, out } = await bench('gate', '--against', 'main', '--max-regression', '3%');
    expect(status).toBe(0);
    expect(out).toMatch(/^Not enough trials: /);
    expect((await bench('gate', '--against', 'main', '--max-regression', '3%', '--strict')).status).toBe(8);
    await after(970, 2);
    const ofTwo = (await bench('gate', '--against', 'main', '--max-regression', '3%')).out;
    expect(ofTwo).toMatch(/ \d+\.\d % worse +two trials +8 \/ 2 +not enough trials$/m);
    await after(500, 1);
    expect((await bench('gate', '--against', 'main')).out).toMatch(
      /^Not enough trials: .*one\s+trial has\s+no\s+interval/s,
    );
  });

  it('judges CPU per query where the rate was held, of which nobody answers more or fewer', async () => {
    const held = (id: string, cpu: number) =>
      saveRun({
        id,
        qps: {},
        record: { ...atRate(around(cpu, 8, id)), id, startedAt: '2026-11-02T12:00:00.000Z' },
      });
    const atRate = (cpu: readonly number[]) => {
      const trials = cpu.map((value) => ({
        ...{ qps: 1999.8, cpuSecondsPerQuery: value },
        limitedBy: 'rate' as const,
      }));
      const { cases, trials: taken } = makeRecord({
        cases: [{ server: 'dinodns', ratePerSecond: 2000, trials }],
      });
      return { cases, trials: taken };
    };
    await held(OLD, 1e-5);
    await held(NEW, 1.23e-5);
    const { status, out } = await bench('gate', NEW, '--against', OLD, '--max-regression', '5%');
    expect(out).toContain('CPU time per query, at most 5% worse');
    expect(status).toBe(9);
    expect((await bench('gate', NEW, '--against', OLD, '--metric', 'qps')).status).toBe(0);
  });

  it('compares no two cases of different tiers, unless it is asked to', async () => {
    const atTier = async (id: string, tier: number, level: number) => {
      const trials = around(level, 8, id).map((qps) => ({ qps }));
      const { cases, trials: taken } = makeRecord({ cases: [{ server: 'dinodns', tier, trials }] });
      await saveRun({ id, qps: {}, record: { cases, trials: taken } });
    };
    await atTier(OLD, 1, 1000);
    await atTier(NEW, 2, 1900);
    const { status, err } = await bench('gate', NEW, '--against', OLD);
    expect(status).toBe(2);
    expect(err).toContain('no case in common');
    expect((await bench('gate', `${NEW}:tier=2`, '--against', `${OLD}:tier=1`)).out).toContain(
      'dinodns, tier 2 against tier',
    );
  });

  it('says what it does not judge, and fails a server that fails all its trials', async () => {
    const failing = { failed: 'E_SERVER' };
    const save = async (id: string, tiers: readonly [tier: number, ok: number, failed: number][]) => {
      const { cases, trials } = makeRecord({
        cases: tiers.map(([tier, ok, failed]) => ({
          ...{ server: 'dinodns', tier },
          trials: [
            ...around(1000, ok, `${id}${tier}`).map((qps) => ({ qps })),
            ...Array.from({ length: failed }, () => failing),
          ],
        })),
      });
      await saveRun({ id, qps: {}, record: { cases, trials } });
    };
    const judged = async () => {
      const { status, out } = await bench('gate', NEW, '--against', OLD, '--max-regression', '20%');
      return { status, out: out.replaceAll(/\s+/g, ' ') };
    };
    await save(OLD, [
      [1, 7, 0],
      [2, 7, 0],
    ]);
    await save(NEW, [[1, 7, 0]]);
    expect(await judged()).toEqual({
      status: 0,
      out: expect.stringContaining(
        'Not judged, because only the reference has it: dinodns/tier=2/single/half/udp.',
      ),
    });
    await save(NEW, [
      [1, 2, 5],
      [2, 7, 0],
    ]);
    expect((await judged()).out).toContain('tier 1, single, half, udp: 5 trials of the candidate failed.');
    await save(NEW, [
      [1, 0, 7],
      [2, 7, 0],
    ]);
    expect(await judged()).toEqual({
      status: 9,
      out: expect.stringContaining('1 could not be measured, because every trial failed'),
    });
  });

  it('warns of a run that did not end, and tests it as often as it was going to be looked at', async () => {
    await before();
    const { configuration } = makeRecord({ cases: [] });
    await saveRun({
      ...{ id: NEW, qps: { dinodns: around(1000, 7, 'after') } },
      record: {
        ...{ status: 'interrupted', until: null },
        configuration: { ...configuration, until: { verdict: 0.06 } },
      },
    });
    const note = `Run ${NEW} is interrupted`;
    for (const argv of [
      ['gate', NEW, '--against', OLD],
      ['compare', OLD, NEW],
      ['trend', '--metric', 'qps'],
    ])
      expect((await bench(...argv)).out, argv[0]).toContain(note);
    expect((await readAnyEntry(world, join(results(), NEW, 'run.json'))).level).toBeCloseTo(0.005, 12);
    expect((await bench('gate', NEW, '--against', OLD, '--max-regression', '20%')).out).toMatch(/^Passed/);
  });

  it('takes less as better for latency and CPU', async () => {
    await before();
    await after(800);
    // Of the fixture, CPU per query is 1 ÷ QPS: a quarter more.
    const json = JSON.parse(
      (await bench('gate', '--against', 'main', '--metric', 'qps,cpu,latency', '--json')).out,
    );
    const outcomes = json.cases.map(({ metric, outcome }: { metric: string; outcome: string }) => [
      metric,
      outcome,
    ]);
    expect(outcomes).toEqual([
      ['qps', 'failed'],
      ['cpu', 'failed'],
      ['latency', 'passed'],
    ]);
    expect(json.cases[1].regression).toBeCloseTo(0.25, 1);
  });

  it('refuses to judge a duet by ordinary trials, and the other way round', async () => {
    await before();
    await saveRun({ id: NEW, qps: { dinodns: around(500, 8, 'after') }, branch: 'feature', duet: true });
    const { status, out, err } = await bench('gate', '--against', 'main');
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(
      `run ${NEW} (a duet, slices of 0.5 s) and its reference ${OLD} (one server at a time) are different measurements`,
    );
    expect(err).toContain('--duet off');
    const back = await bench('gate', OLD, '--against', NEW, '--normalize', 'dinodns');
    expect(back.status).toBe(2);
    expect(back.err).toContain('different measurements');
    await saveRun({ id: OLD, qps: { dinodns: around(1000, 8, 'before') }, duet: true });
    expect((await bench('gate', '--against', 'main')).status).toBe(9);
  });

  it('writes Markdown for a pull request, in which nothing from a record is markup', async () => {
    await before();
    await saveRun({
      id: NEW,
      qps: { dinodns: around(900, 8, 'after') },
      branch: 'feature',
      environment: { hostname: '<script>alert(1)</script> | @everyone, closes #1 and GH-1' },
    });
    const { status, out } = await bench('gate', '--against', 'main', '--format', 'github');
    expect(status).toBe(9);
    expect(out).toMatch(/^### ❌ Failed: run /);
    expect(out).toMatch(/^\| dinodns, tier 1, single, half, udp +\| \d+\.\d % worse \|/m);
    expect(out).toContain(
      '&lt;script&gt;alert(1)&lt;/script&gt; \\| @\u2060everyone, closes #\u20601 and GH-\u20601',
    );
    expect(out).not.toContain('<script>');
  });

  it('finds its reference by branch, commit, name or id, but never takes the run itself', async () => {
    await saveRun({ id: OLD, qps: { dinodns: around(1000, 8, 'a') }, commit: 'abcdef0123456789' });
    await saveRun({ id: NEW, qps: { dinodns: around(1000, 8, 'b') } });
    await bench('history', 'tag', OLD, 'good');
    for (const reference of ['main', 'abcdef01', 'good', OLD, '20261101']) {
      const json = JSON.parse((await bench('gate', '--against', reference, '--json')).out);
      expect(json.comparison, reference).toMatchObject({ reference: OLD, candidate: NEW });
    }
    const own = await bench('gate', '--against', NEW);
    expect(own.status).toBe(2);
    expect(own.err).toContain('is the run being judged');
  });

  it.each<[string, string[], number, string]>([
    [
      'a tolerance without its sign',
      ['--against', OLD, '--max-regression', '3'],
      2,
      '"3" must be a percentage',
    ],
    [
      'a tolerance below zero',
      ['--against', OLD, '--max-regression', '-3%'],
      2,
      '"-3%" must be a percentage',
    ],
    ['a tolerance of everything', ['--against', OLD, '--max-regression', '100%'], 2, 'to below 100%'],
    [
      'an unknown format',
      ['--against', OLD, '--format', 'gitlab'],
      2,
      'must be one of text, markdown, github, json',
    ],
    [
      'a format with the name of something else',
      ['--against', OLD, '--format', 'constructor'],
      2,
      'must be one of text, markdown, github, json',
    ],
    ['no reference', [], 2, 'nothing to compare with'],
    ['two references', ['--against', OLD, '--base', 'dinodns'], 2, "cannot be used with option '--base"],
    ['a server that is not in the run', ['--base', 'nsd'], 2, 'has no case with server=nsd'],
    ['a server alone', ['--base', 'dinodns'], 2, 'measured nothing beside dinodns'],
    ['a reference that is not there', ['--against', 'maim'], 6, 'there is no run "maim"'],
    ['cases that are not there', ['--against', OLD, '--server', 'nsd'], 2, 'has no case with server=nsd'],
  ])('explains %s', async (_what, argv, status, problem) => {
    await before();
    await after(1000);
    const answer = await bench('gate', ...argv);
    expect(answer.status).toBe(status);
    expect(answer.err).toContain(problem);
    expect(answer.out).toBe('');
  });

  /** Base and head in turns beside others, who take 0 to 1.5 CPUs in phases and cost both 1.2 of their logarithm for each. */
  async function besideOthers(level: number): Promise<void> {
    const { normal } = noise(`beside others ${level}`);
    const taken = Array.from({ length: 16 }, (_, at) => ((at * 7) % 16) / 10);
    const slowed = (from: number) => (cores: number) => from * Math.exp(0.01 * normal() - 1.2 * cores);
    const own = { base: taken, head: taken.toReversed() };
    const qps = { base: own.base.map(slowed(1000)), head: own.head.map(slowed(level)) };
    const made = makeRecord({
      cases: Object.entries(qps).map(([server, values]) => ({
        server,
        trials: values.map((value) => ({ qps: value })),
      })),
    });
    const trials = made.trials.map((trial) => {
      if (trial.status !== 'ok') return trial;
      const otherCores = own[trial.caseKey.startsWith('base') ? 'base' : 'head'][trial.round] ?? 0;
      const second = {
        atSeconds: 1,
        durationSeconds: 1,
        stealCores: 0,
        otherCores,
        waitSeconds: null,
        hertz: null,
      };
      return { ...trial, neighbours: [{ ...second, thermalEvents: null }] };
    });
    await saveRun({ id: NEW, qps, record: { trials } });
  }

  it('judges a server by another one of the same run, and allows for what others took from either', async () => {
    await besideOthers(900);
    const lost = await bench('gate', '--base', 'base', '--max-regression', '5%');
    expect(lost.status, lost.out).toBe(9);
    const named = await bench('gate', 'latest:server=head', '--base', 'base', '--max-regression', '5%');
    expect(named.out).toBe(lost.out);
    expect(lost.out.replaceAll('\n', ' ')).toMatch(
      /^Failed: run 20261102-120000-bbbb, after allowing for what other programs took .*at most 5% worse .*head against base.* (9|10|11)\.\d % worse/,
    );
    const { out } = await bench('compare', 'latest:server=base', 'latest:server=head');
    expect(out.replaceAll('\n', ' ')).toContain('Differences allow for the CPU that other programs took');
    expect(out).toMatch(/Queries per second .* slower/);
    await besideOthers(1000);
    const same = await bench('gate', '--base', 'base', '--max-regression', '5%');
    expect(same.out).toMatch(/^Passed/);
    expect(same.status).toBe(0);
  });

  it('never shows a change outside of the interval that it judges', async () => {
    const base = [100, 110, 120, 130, 140, 150, 160];
    const head = base.map((qps, at) => (at === 3 ? 119.6 : qps * 0.99));
    await saveRun({ id: NEW, qps: { base, head } });
    const { out } = await bench('gate', '--base', 'base', '--max-regression', '5%');
    expect(out).toMatch(/ 8\.0 % worse +\d\.\d to 8(\.\d)? % worse +7 \/ 7 +not enough trials$/m);
  });

  it('is right: of unchanged servers hardly any gate fails, of a real loss most do', async () => {
    const { gate } = await import('../src/history/gate.ts');
    const { compareRuns } = await import('../src/history/compare.ts');
    const { LOOK_LEVEL } = await import('../src/stats/until.ts');
    const { entryOf } = await import('../src/history/entry.ts');
    const { selectCases } = await import('../src/history/select.ts');
    const { normal } = noise('gate');
    const draw = (level: number) =>
      entryOf({
        ...makeRecord({
          cases: [
            {
              server: 'dinodns',
              trials: Array.from({ length: 8 }, () => ({ qps: level * Math.exp(0.03 * normal()) })),
            },
          ],
        }),
        id: String(level),
      });
    const limits = [{ estimand: comparedEstimand('qps'), maxRegression: 0.03 }];
    const options = { limits, interval: 'auto', normalize: null } as const;
    // A run that was looked at until it was decided: ten looks at a tenth of the level, in gates and in comparisons.
    const [before, now] = [draw(1000), draw(960)];
    const looked = (entry: typeof now) => selectCases({ ...entry, level: LOOK_LEVEL }, {});
    const [once] = gate(selectCases(before, {}), selectCases(now, {}), options).cases;
    const [often] = gate(selectCases(before, {}), looked(now), options).cases;
    expect(often?.low).toBeLessThan(once?.low ?? -1);
    expect(often?.adjustedPValue).toBeCloseTo(Math.min(1, (once?.adjustedPValue ?? 0) * 10), 9);
    const estimands = [comparedEstimand('qps')];
    const [{ delta } = { delta: null }] =
      compareRuns(looked(before), selectCases(now, {}), { ...options, estimands }).cases[0]?.figures ?? [];
    expect(delta?.high).toBeGreaterThan(-(once?.low ?? 1));
    const share = (level: number, runs: number) => {
      let failed = 0;
      for (let run = 0; run < runs; run++) {
        const result = gate(selectCases(draw(1000), {}), selectCases(draw(level), {}), options);
        if (result.outcome === 'failed') failed += 1;
      }
      return failed / runs;
    };
    expect(share(999, 400)).toBeLessThanOrEqual(0.01);
    // At the tolerance itself one in forty.
    expect(share(970, 400)).toBeLessThanOrEqual(0.025 + 3 * Math.sqrt((0.025 * 0.975) / 400));
    expect(share(880, 200)).toBeGreaterThan(0.95);
  });
});
