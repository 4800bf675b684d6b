/** `bench report` and `bench open` with a record on disk. */
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatJson } from '../src/results/json-text.ts';
import { makeRichRecord } from './fixtures/make-rich-record.ts';
import { referenceFolder } from './support/reference.ts';
import { type TestWorld, type TestWorldOptions, testWorld } from './support/test-world.ts';

const STORED = new URL('fixtures/records/stored.json', import.meta.url);

let world: TestWorld;
async function useWorld(options: TestWorldOptions = {}): Promise<string> {
  await world?.remove();
  world = await testWorld(options);
  const folder = join(world.directory, 'results', '20261121-115706-fdc0');
  await mkdir(join(folder, 'raw', '001-coredns-tier1-single-round1'), { recursive: true });
  await cp(STORED, join(folder, 'run.json'));
  await writeFile(
    join(folder, 'raw', '001-coredns-tier1-single-round1', 'dnsperf-load-1.txt'),
    'said dnsperf\n',
  );
  return folder;
}
let folder: string;
beforeEach(async () => {
  folder = await useWorld();
});
afterEach(() => world.remove());

/** Without what the history derives from the record. */
const filesOf = async (path: string) => (await readdir(path)).filter((name) => name !== 'entry.json');

describe('bench report', () => {
  it('without a format shows the table and writes what every run has', async () => {
    expect(await world.bench('report', 'latest')).toBe(0);
    expect(world.out()).toContain('Tier 1, single');
    expect(await filesOf(folder)).toEqual(['raw', 'report.html', 'report.md', 'run.json', 'trials.csv']);
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toContain('said dnsperf');
  });

  it.each([
    ['md', /^# CoreDNS and DinoDNS/],
    ['markdown', /^# CoreDNS and DinoDNS/],
    ['github', /^### DNS benchmark/],
    ['csv', /^trial,server,tier/],
    ['json', /^\{\n {2}"schemaVersion": 3/],
    ['terminal', /^CoreDNS answered .* Compared.*\n\nTier 1, single/s],
  ])('prints a single text and writes nothing: %s', async (format, start) => {
    expect(await world.bench('report', 'latest', '--format', format)).toBe(0);
    expect(world.out()).toMatch(start);
    expect(await filesOf(folder)).toEqual(['raw', 'run.json']);
  });

  it('says of a run that was killed before its first trial that there is nothing to resume', async () => {
    const killed = join(world.directory, 'results', '20260101-000000-dead');
    await mkdir(join(killed, 'raw'), { recursive: true });
    const all = [
      ['report', '20260101-000000-dead'],
      ['report', killed],
      ['compare', killed, 'latest'],
      ['gate', '--against', '20260101-000000-dead'],
      ['--resume', '20260101-000000-dead'],
    ];
    for (const argv of all) {
      expect(await world.bench(...argv)).toBe(6);
      expect(world.err()).toContain(`${killed} has no record: its run has no trial yet`);
      expect(world.err()).toContain('start it again and delete the folder');
    }
    expect(await world.bench('report', 'latest')).toBe(0);
  });

  it('prints a post and writes it with its charts', async () => {
    expect(await world.bench('report', 'latest', '--format', 'blog')).toBe(0);
    expect(world.out()).toMatch(/^---\nslug: /);
    expect(await readFile(join(folder, 'blog', 'index.md'), 'utf8')).toBe(world.out());
    expect(await readdir(join(folder, 'blog'))).toContain('qps.svg');
    expect(world.err()).toContain('blog/index.md');
  });

  it('prints the page where stdout is no terminal, else only says where it is', async () => {
    expect(await world.bench('report', 'latest', '--format', 'html')).toBe(0);
    expect(world.out()).toMatch(/^<!doctype html>/);
    folder = await useWorld({ columns: 100 });
    expect(await world.bench('report', 'latest', '--format', 'html')).toBe(0);
    expect(world.out()).toBe('results/20261121-115706-fdc0/report.html\n');
  });

  it('writes several formats at once and prints their paths', async () => {
    expect(await world.bench('report', 'latest', '--format', 'md, svg,png,md', '--to', 'published')).toBe(0);
    const paths = world.out().trim().split('\n');
    expect(paths[0]).toBe('published/report.md');
    expect(paths).toContain('published/charts/qps.svg');
    expect(paths).toContain('published/charts/qps-dark.png');
    expect(new Set(paths).size).toBe(paths.length);
    for (const path of paths)
      expect((await readFile(join(world.directory, path))).length).toBeGreaterThan(100);
    expect(await filesOf(folder)).toEqual(['raw', 'run.json']);
  });

  it('goes on showing the charts that lie beside the text, and writes them with it', async () => {
    const own = join(world.directory, 'results', '20261124-165300-af2b');
    await cp(join(referenceFolder('disrupt-rollout'), 'run.json.gz'), join(own, 'run.json.gz'));
    // The record's usual name means the compressed one.
    expect(await world.bench('report', join(own, 'run.json'), '--format', 'md,svg'), world.err()).toBe(0);
    const withCharts = await readFile(join(own, 'report.md'), 'utf8');
    const [, chart = ''] = /\]\(charts\/([\w-]+\.svg)\)/.exec(withCharts) ?? [];
    const path = join(own, 'charts', chart);
    // A title that is wider than its panel has several lines.
    expect(await readFile(path, 'utf8')).toContain('<tspan>no lameduck, 1 pod, reused</tspan>');
    expect(await world.bench('report', 'latest', '--format', 'md')).toBe(0);
    expect(world.out().endsWith(`\n${withCharts}`)).toBe(true);
    await writeFile(path, 'old');
    expect(await world.bench('report', 'latest')).toBe(0);
    expect(await readFile(join(own, 'report.md'), 'utf8')).toBe(withCharts);
    expect(await readFile(path, 'utf8')).toContain('<svg');
    // Elsewhere there are none.
    await world.bench('report', 'latest', '--format', 'md,csv', '--to', 'elsewhere');
    expect(await readFile(join(world.directory, 'elsewhere', 'report.md'), 'utf8')).not.toContain('charts/');
  });

  it('writes nothing beside a published run unless its folder is given', async () => {
    const published = join(world.directory, 'results', 'reference', 'default');
    await mkdir(published, { recursive: true });
    await rename(join(folder, 'run.json'), join(published, 'run.json'));
    await rm(folder, { recursive: true });
    const bench = async (...argv: string[]) => {
      const status = await world.bench('report', ...argv);
      return {
        status,
        written: (await readdir(published)).filter((name) => !['entry.json', 'run.json'].includes(name)),
      };
    };
    for (const run of ['latest', '20261121-115706-fdc0']) {
      expect(await bench(run)).toEqual({ status: 0, written: [] });
      expect(world.out()).toContain('Tier 1, single');
      expect(world.err()).toContain('To write them: bench report results/reference/default');
    }
    expect(await bench('latest', '--format', 'html')).toEqual({ status: 0, written: [] });
    expect(world.out()).toMatch(/^<!doctype html>/m);
    expect(await bench('latest', '--format', 'md,svg')).toEqual({ status: 2, written: [] });
    expect(world.err()).toContain('nothing is written there unasked');
    expect(await bench('latest', '--format', 'md,svg', '--to', 'elsewhere')).toEqual({
      status: 0,
      written: [],
    });
    expect((await bench('results/reference/default')).written).toEqual([
      'report.html',
      'report.md',
      'trials.csv',
    ]);
    expect((await bench('default', '--out', 'results/reference', '--format', 'svg')).written).toContain(
      'charts',
    );
  });

  it.each([
    ['--format', 'htlm', 'unknown format "htlm"', 'Did you mean "html"?'],
    ['--format', 'md,,pfd', 'unknown format "pfd"', 'Choose from'],
    ['--format', ' , ', 'no format given', 'Choose from'],
    ['--delta', 'absolute', '"absolute" must be relative or symmetric', 'mean of both'],
  ])('refuses %s %s', async (flag, value, problem, fix) => {
    expect(await world.bench('report', 'latest', flag, value)).toBe(2);
    expect(world.err()).toContain(problem);
    expect(world.err()).toContain(fix);
    expect(world.out()).toBe('');
  });

  it('refuses a record of an experiment that it does not know', async () => {
    const path = join(folder, 'run.json');
    const record = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...record, experiment: 'tomorrow' }));
    expect(await world.bench('report', folder)).toBe(6);
    expect(world.err()).toContain('E_RECORD_VERSION');
    expect(world.err()).toContain('"tomorrow"');
  });

  // Node.js's own recursive mkdir never returns below /proc.
  it.each(['/proc/nowhere/here', '/dev/null/here'])(
    'blames --to where that cannot be written: %s',
    async (to) => {
      expect(await world.bench('report', 'latest', '--format', 'md,csv', '--to', to)).toBe(7);
      expect(world.err()).toContain(`cannot write ${to}`);
      expect(world.err()).toContain('fix: Give a writable directory with enough space with --to.');
    },
  );

  it('says which file cannot be written', async () => {
    await writeFile(join(world.directory, 'occupied'), '');
    expect(await world.bench('report', 'latest', '--format', 'svg', '--to', 'occupied')).toBe(7);
    expect(world.err()).toContain('E_WRITE_FAILED');
    expect(world.err()).toContain('occupied/charts');
  });

  it('has colours only on a terminal, and not where NO_COLOR is set', async () => {
    const colored = '\u001b';
    expect(await world.bench('report', 'latest', '--format', 'terminal')).toBe(0);
    expect(world.out()).not.toContain(colored);
    await useWorld({ columns: 80, env: { NO_COLOR: '' } });
    await world.bench('report', 'latest', '--format', 'terminal');
    expect(world.out()).toContain(colored);
    await useWorld({ columns: 80, env: { NO_COLOR: '1' } });
    await world.bench('report', 'latest', '--format', 'terminal');
    expect(world.out()).not.toContain(colored);
  });
});

describe('bench open', () => {
  const env = { DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '', PATH: '/nowhere' };

  it('prints the path of the page, and why it was not opened, where nothing can open it', async () => {
    folder = await useWorld({ env });
    expect(await world.bench('open', 'latest')).toBe(0);
    expect(world.out()).toBe(`${join(folder, 'report.html')}\n`);
    expect(world.err()).toBe('Not opened: this session has no display. Open the file above in a browser.\n');
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
    folder = await useWorld({ env: { ...env, DISPLAY: ':0' } });
    await world.bench('open', 'latest');
    expect(world.err()).toContain('xdg-open is missing; install the package xdg-utils');
  });

  /** An opener that notes what it is given. */
  async function opener(name: string, script: string): Promise<void> {
    const path = join(world.directory, 'bin', name);
    await mkdir(join(world.directory, 'bin'), { recursive: true });
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }

  it.each([
    ['xdg-open', { DISPLAY: ':0' }, (path: string) => path],
    ['firefox', { BROWSER: 'firefox' }, (path: string) => `file://${path}`],
  ])('hands the page to %s', async (name, more, given) => {
    folder = await useWorld({ env });
    await opener(name, 'printf %s "$1" > "$(dirname "$0")/opened"');
    const PATH = `${join(world.directory, 'bin')}:/usr/bin:/bin`;
    Object.assign(world, { env: { ...world.env, ...more, PATH } });
    expect(await world.bench('open', '20261121-115706-fdc0')).toBe(0);
    expect(await readFile(join(world.directory, 'bin', 'opened'), 'utf8')).toBe(
      given(join(folder, 'report.html')),
    );
    expect(world.err()).toBe('');
  });

  it('says so when the opener fails', async () => {
    await useWorld({ env });
    await opener('xdg-open', 'echo "no application for text/html" >&2; exit 3');
    Object.assign(world, {
      env: { ...world.env, DISPLAY: ':0', PATH: `${join(world.directory, 'bin')}:/usr/bin:/bin` },
    });
    expect(await world.bench('open', 'latest')).toBe(0);
    expect(world.err()).toContain('ended with status 3: no application for text/html');
  });

  it('refuses a run that does not exist', async () => {
    expect(await world.bench('open', 'nothing')).toBe(6);
    expect(world.err()).toContain('there is no run "nothing"');
    expect(world.out()).toBe('');
  });
});

/** Prints at the end of a process what memory it needed, and how often its CPU time is that of parsing the record. */
const usageIn = (record: string) => `
  import { readFileSync } from 'node:fs';
  process.on('exit', () => {
    const { maxRSS } = process.resourceUsage();
    const { user } = process.cpuUsage();
    const text = readFileSync(${JSON.stringify(record)}, 'utf8');
    for (let i = 0; i < 5; i++) JSON.parse(text);
    console.error('usage', maxRSS, (5 * user) / (process.cpuUsage().user - user));
  });`;

describe('a record of 5,000 trials', () => {
  it('is rendered in every format in the CPU time of 200 parsings, some seconds, and less than 500 MB', async () => {
    const record = makeRichRecord({ tiers: [0.5, 1, 2, 4, 8], trials: 125 });
    expect(record.trials).toHaveLength(5000);
    const file = join(folder, 'run.json');
    await writeFile(file, formatJson(record));
    // In a process of its own: this one holds the tests as well.
    const running = await world.processes.start(
      [
        world.processes.nodePath,
        // On a busy machine, V8 collects late and lets garbage grow.
        ...['--max-old-space-size=240', '--single-threaded-gc'],
        ...['--import', `data:text/javascript,${encodeURIComponent(usageIn(file))}`],
        new URL('../src/main.ts', import.meta.url).pathname,
        ...['report', folder, '--format', 'md,blog,html,github,csv,json,svg,png'],
        ...['--to', join(world.directory, 'published')],
      ],
      { env: { NODE_OPTIONS: '--conditions=@dinodns-bench/source' } },
    );
    expect((await running.exited).code).toBe(0);
    const [, kibibytes, parsings] = /usage (\d+) ([\d.]+)/.exec(running.lastLines.join('\n')) ?? [];
    expect(Number(kibibytes) / 1024).toBeLessThan(500);
    // Compared with work of the same process, which a busy machine slows down as much: from 62 at a load of 13 to 89 at 22; and 5.0 s alone,
    // of which the page takes 2.3.
    expect(Number(parsings)).toBeLessThan(200);
  }, 180_000);
});
