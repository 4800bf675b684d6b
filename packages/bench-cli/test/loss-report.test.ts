/** The report of `bench loss`, of the published run. */
import { beforeAll, describe, expect, it } from 'vitest';
import { engineKind } from '../src/engine/record.ts';
import { type LossEvidence, type LossRecord, lossEvidenceSchema } from '../src/experiments/loss/evidence.ts';
import { loss } from '../src/experiments/loss/index.ts';
import { referenceText } from './support/reference.ts';

const { schema } = engineKind<typeof lossEvidenceSchema, LossRecord['settings']>('loss', lossEvidenceSchema);

let published: LossRecord;
beforeAll(async () => {
  published = schema.parse(JSON.parse(referenceText('local-loss')));
});

function rendered(record: LossRecord, format = 'terminal'): string {
  if (loss.records === null || !('open' in loss.records)) throw new Error('no records');
  const opened = loss.records.open({ text: JSON.stringify(record), path: 'run.json' });
  const text = opened.render(format, { delta: 'relative', columns: 80 });
  if (text === undefined) throw new Error(`no ${format}`);
  return text;
}

/** The record with the evidence of the first case's trials changed. */
function withEvidence(change: (evidence: LossEvidence) => LossEvidence): LossRecord {
  const first = published.cases[0]?.key;
  const trials = published.trials.map((trial) =>
    trial.status === 'ok' && trial.case === first ? { ...trial, evidence: change(trial.evidence) } : trial,
  );
  return { ...published, trials };
}

/** Lines of a section, below its title. */
function section(text: string, title: string): string[] {
  const [, below = ''] = text.split(`\n${title}\n`);
  return (below.split('\n\n')[0] ?? '').split('\n');
}

describe('the report of bench loss', () => {
  it('fits in 80 columns, with a line for each row of a table', () => {
    const text = rendered(published);
    for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
    const rates = section(text, 'Highest rates, queries per second');
    expect(rates.filter((line) => /^DinoDNS +[\d,]+ ±\d+ % .* [\d,]+ ±\d+ %$/.test(line))).toHaveLength(1);
    const beyond = section(text, 'Below and beyond the limit');
    const row = /^\S.* \d\.\d\d +[\d,]+ ±\d+ % +[\d.]+ % +[\d.]+ \[[\d.]+, [\d.]+\]$/;
    expect(beyond.filter((line) => row.test(line))).toHaveLength(18);
  });

  it('names every server in its last line, and how long a query may take', () => {
    const text = rendered(published);
    expect(text.trimEnd().split('\n\n').at(-1)?.replaceAll('\n', ' ')).toMatch(
      /^9 trials; no loss up to: DinoDNS [\d,]+, CoreDNS [\d,]+, Knot DNS [\d,]+ queries per second\.$/,
    );
    expect(rendered(published, 'md')).toContain('without an answer after 0.3 s is lost');
  });

  it('says so where the recovery is not known', () => {
    expect(rendered(published)).not.toContain('the recovery is not known');
    const text = rendered(withEvidence((evidence) => ({ ...evidence, recovery: null }))).replaceAll(
      /\n */g,
      ' ',
    );
    expect(text).toContain('DinoDNS: the recovery is not known, because the load generator could not send');
    expect(text).toMatch(/DinoDNS +– +– +–/);
  });

  it('shows the CPUs where they were observed', () => {
    expect(rendered(published)).not.toContain('CPUs  ');
    const text = rendered(
      withEvidence((evidence) => ({
        ...evidence,
        probes: evidence.probes.map((probe) => ({ ...probe, cpuCores: 0.487 })),
      })),
    );
    expect(text).toMatch(/^DinoDNS +3\.00 +.* % +0\.49 +[\d.]+ \[/m);
    for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  });
});
