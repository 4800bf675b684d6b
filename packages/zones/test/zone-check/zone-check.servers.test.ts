/** The four servers' verdicts on the zones in `cases.ts` are those recorded there. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs, pathOf } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CASES, fileOf, type Verdict, type ZoneCase } from './cases.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zc-'));
  for (const zone of CASES) await writeFile(zoneFile(zone), fileOf(zone));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function zoneFile({ name }: ZoneCase): string {
  return join(directory, `${name}.zone`);
}

function run(command: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
  return { status, output: stdout + stderr };
}

function verdicts(judge: (zone: ZoneCase) => Verdict): Record<string, Verdict> {
  return Object.fromEntries(CASES.map((zone) => [zone.name, judge(zone)]));
}

function expected(server: 'bind' | 'nsd' | 'knot' | 'powerdns'): Record<string, Verdict> {
  return Object.fromEntries(CASES.map((zone) => [zone.name, zone[server]]));
}

it('BIND', needs('named-checkzone'), () => {
  const judge = (zone: ZoneCase): Verdict => {
    const { status, output } = run(pathOf('named-checkzone'), [`${zone.name}.test.`, zoneFile(zone)]);
    if (status !== 0) return 'refuses';
    return output.split('\n').some((line) => line !== '' && !/loaded serial|^OK$/.test(line))
      ? 'warns'
      : 'loads';
  };
  expect(verdicts(judge)).toEqual(expected('bind'));
});

it('NSD', needs('nsd-checkzone'), () => {
  const judge = (zone: ZoneCase): Verdict => {
    const { status, output } = run(pathOf('nsd-checkzone'), [`${zone.name}.test.`, zoneFile(zone)]);
    if (status !== 0) return 'refuses';
    return /warning/.test(output) ? 'warns' : 'loads';
  };
  expect(verdicts(judge)).toEqual(expected('nsd'));
});

it('Knot DNS', { ...needs('knotd'), timeout: 60_000 }, async () => {
  const zones = CASES.map(
    (zone) => `  - domain: ${zone.name}.test.\n    file: "${zoneFile(zone)}"\n    semantic-checks: on\n`,
  );
  const common = `server:\n    rundir: "${directory}"\ndatabase:\n    storage: "${directory}"\nlog:\n  - target: stderr\n    any: info\n`;
  await writeFile(join(directory, 'knot.conf'), `${common}zone:\n${zones.join('')}`);
  const child = spawn(pathOf('knotd'), ['-c', join(directory, 'knot.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (data) => {
    log += data;
  });
  const linesFor = ({ name }: ZoneCase) => log.split('\n').filter((line) => line.includes(`[${name}.test.]`));
  const isDone = (zone: ZoneCase) =>
    linesFor(zone).some((line) => /\] (loaded|zone event 'load' failed)/.test(line));
  await expect.poll(() => CASES.every(isDone), { timeout: 30_000 }).toBe(true);
  child.kill('SIGTERM');
  await exited;
  const judge = (zone: ZoneCase): Verdict => {
    const lines = linesFor(zone);
    if (!lines.some((line) => line.includes('] loaded'))) return 'refuses';
    return lines.some((line) => /warning:|notice:.*mismatch/.test(line)) ? 'warns' : 'loads';
  };
  expect(verdicts(judge)).toEqual(expected('knot'));
});

it('PowerDNS', { ...needs('pdnsutil'), timeout: 60_000 }, async () => {
  const zones = CASES.map((zone) => `zone "${zone.name}.test" { type master; file "${zoneFile(zone)}"; };\n`);
  await writeFile(join(directory, 'named.conf'), zones.join(''));
  await writeFile(
    join(directory, 'pdns.conf'),
    `launch=bind\nbind-config=${join(directory, 'named.conf')}\n`,
  );
  const judge = (zone: ZoneCase): Verdict => {
    const { output } = run(pathOf('pdnsutil'), [
      `--config-dir=${directory}`,
      'check-zone',
      `${zone.name}.test`,
    ]);
    const own = output.split('\n').filter((line) => !line.includes('auth=0') && line.includes('.test'));
    if (own.some((line) => line.startsWith('[Error]'))) return 'refuses';
    return own.some((line) => /^\[Warning\]/.test(line)) ? 'warns' : 'loads';
  };
  expect(verdicts(judge)).toEqual(expected('powerdns'));
});
