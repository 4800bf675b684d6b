/** The fuzzer itself: what it inserts changes nothing, and it finds what is hidden in code. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { Campaign, type Finding } from '../engine/campaign.ts';
import { runCampaign } from '../engine/campaign-thread.ts';
import { instrument } from '../engine/instrument.ts';

const folder = mkdtempSync(join(tmpdir(), 'fuzz-engine-'));
afterAll(() => rm(folder, { recursive: true }));

let modules = 0;
/** The exports of instrumented code. */
async function load(source: string): Promise<Record<string, unknown>> {
  const path = join(folder, `${++modules}.mjs`);
  writeFileSync(path, instrument(source));
  return import(pathToFileURL(path).href);
}

function isCheck(value: unknown): value is (input: Buffer) => void {
  return typeof value === 'function';
}

/** Findings of a campaign against `check`, which the source exports. */
async function findingsOf(source: string, rounds: number): Promise<Finding[]> {
  const { check } = await load(source);
  if (!isCheck(check)) throw new Error('no function check');
  const target = {
    name: 'planted',
    title: '',
    maxBytes: 64,
    dictionary: [],
    seeds: () => [Buffer.alloc(8)],
    check,
  };
  const campaign = new Campaign(target, { seed: 1 });
  await campaign.begin();
  for (let round = 0; round < rounds && campaign.findings.length === 0; round++) await campaign.round();
  return campaign.findings;
}

describe('instrumented code', () => {
  test.each([
    ['if (x > 3) y = 1; else if ((x & 1) === 1) y = 2; else y = 3;'],
    ['for (let i = 0; i < x; i++) y += i === 2 ? 10 : i;'],
    ['for (const c of "abc") if (c !== "b") y++;'],
    ['do y++; while (y < x /* < 99 */);'],
    ['switch (x) { case 0: case 1: y = 5; break; case 2: { y = 6; break; } default: y = 7 }'],
    ['y = (() => ({ a: x }))().a || (x === 0 ? null : 4) ?? 9;'],
    ['const f = (a, b = a >= 2 && a) => a + (b || 1); y = f(x);'],
    ['outer: for (;;) { while (x >= 0) { if (y++ > 4) break outer; else continue; } break }'],
    [
      'try { if (x === 2) throw new Error("two"); y = 1 } catch (error) { y = error.message } finally { y += "!" }',
    ],
    [
      'const o = { get v() { return x <= 1 }, m() { return [..."xy"].map(c => c === "x") } }; y = JSON.stringify([o.v, o.m()]);',
    ],
    ['function* g() { const got = yield x !== 1 ? 1 : 2; yield got } y = [...g()].length;'],
  ])('%s', async (body) => {
    const source = `export function run(x) { let y = 0; ${body.replace(' ?? 9', '')} return y }`;
    const plain = join(folder, `${++modules}.mjs`);
    writeFileSync(plain, source);
    const { run: expected } = await import(pathToFileURL(plain).href);
    const { run } = await load(source);
    if (typeof run !== 'function') throw new Error('no function run');
    for (const x of [0, 1, 2, 3, 4, 5]) expect(run(x)).toEqual(expected(x));
    expect(String(run).split('\n')).toHaveLength(1);
  });
});

describe('a campaign', () => {
  test('finds a chain of comparisons that no random input passes', async () => {
    const findings = await findingsOf(
      `const MAGIC = 0xa1b2c3d4;
      export function check(input) {
        if (input.length < 12) return;
        if (input.readUInt32BE(0) !== MAGIC) return;
        if (input.readUInt16LE(4) !== 4711) return;
        if (input.toString('latin1', 6, 10) !== 'zone') return;
        if (input[10] > 200 && input[11] < 3) throw new RangeError('found');
      }`,
      20_000,
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]?.error).toBeInstanceOf(RangeError);
    expect(findings[0]?.input).toHaveLength(12);
  });

  test('shortens what it finds', async () => {
    const [finding] = await findingsOf(
      `export function check(input) { if (input.includes('%')) throw new Error('percent') }`,
      2000,
    );
    expect(finding?.input.toString()).toBe('%');
  });

  test('is the same with the same seed', async () => {
    const source = `export function check(input) { for (const byte of input) if (byte > 100 && byte < 104) globalThis.never?.() }`;
    const inputs = await Promise.all(
      [0, 1].map(async () => {
        const { check } = await load(source);
        if (!isCheck(check)) throw new Error('no function check');
        const seen: string[] = [];
        const target = {
          name: '',
          title: '',
          maxBytes: 32,
          dictionary: ['g'],
          seeds: () => [Buffer.from('x')],
          check,
        };
        const campaign = new Campaign(target, {
          seed: 7,
          onInput: (input) => seen.push(input.toString('hex')),
        });
        await campaign.begin();
        for (let round = 0; round < 20; round++) await campaign.round();
        return seen;
      }),
    );
    expect(inputs[0]).toHaveLength(inputs[1]?.length ?? 0);
    expect(inputs[0]).toEqual(inputs[1]);
  });
});

describe('the watched thread', () => {
  test.each([
    ['hang', 'no end within 1 s'],
    ['memory', 'more than 512 MB of memory'],
  ])('reports the input that causes: %s', { timeout: 120_000 }, async (name, error) => {
    const findings: [string, string][] = [];
    const module = new URL('./support.ts', import.meta.url).href;
    await runCampaign(
      { name, module, seed: 1, corpus: [], runs: 100, seconds: 50, hangSeconds: name === 'hang' ? 1 : 50 },
      { onFinding: (input, message) => findings.push([Buffer.from(input).toString(), message]) },
    );
    expect(findings).toEqual([['seed', error]]);
  });
});
