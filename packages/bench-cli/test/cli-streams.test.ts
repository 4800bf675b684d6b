/** The real program, with an output that breaks. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { referenceFolder, referenceText } from './support/reference.ts';

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const record = referenceFolder('local-tier1-both');
const bench = [process.execPath, program, 'report', record, '--format', 'json'];

const shell = (script: string) => spawnSync('bash', ['-c', script, ...bench], { encoding: 'utf8' });

describe('bench', () => {
  it('is quiet when its reader has seen enough', () => {
    const { stdout, stderr } = shell('"$0" "$@" | head -n 1; echo $PIPESTATUS');
    expect(stdout).toBe('{\n0\n');
    expect(stderr).toBe('');
  });

  it('fails when the result cannot be written', () => {
    const { status, stderr } = shell('"$0" "$@" > /dev/full');
    expect(status).toBe(7);
    expect(stderr).toContain('E_WRITE_FAILED');
    expect(stderr).toContain('ENOSPC');
  });

  it('says what to do where it may open no more files', () => {
    const out = mkdtempSync(join(tmpdir(), 'dinodns-bench-files-'));
    onTestFinished(() => rmSync(out, { recursive: true }));
    const script = 'ulimit -n 24; "$0" "$1" run --servers dinodns --duration 1 --out "$2"';
    const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath, program, out], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('error [E_LIMITS_UNAVAILABLE]: cannot start ');
    expect(stderr).toContain('fix: Allow more open files: raise `ulimit -n`.');
    expect(status).toBe(3);
    expect(readdirSync(out)).toEqual([]);
  }, 180_000);

  it('reports an error on stderr with its exit status, and nothing on stdout', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--teir'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain("unknown option '--teir'");
  });

  it('renders the published reference record to the published report', () => {
    const render = (format: string) =>
      execFileSync(process.execPath, [program, 'report', record, '--format', format], { encoding: 'utf8' });
    const markdown = render('md');
    expect(markdown).toBe(execFileSync('cat', [`${record}/report.md`], { encoding: 'utf8' }));
    // Its verdicts were not corrected.
    expect(markdown).toContain('This record is older than the correction for the number of comparisons.');
    const { trials } = JSON.parse(referenceText('local-tier1-both'));
    expect(render('csv').trimEnd().split('\n')).toHaveLength(1 + trials.length);
  });
});
