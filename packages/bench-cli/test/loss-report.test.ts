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

  it.each([
    [0, 0, [0, 0, 0], 'In the second after that it loses nothing.'],
    [0, 0.005, [0, 0, 0], 'In the second after that it loses 0.5 %; it has recovered at once.'],
    [0, 0, [0, 0, null], 'it loses hardly any query. It recovers in 2 of 3 trials.'],
    [0, 0.3, [null, 0.05, null], 'In the second after that it loses 30 %. It recovers in 1 of 3 trials.'],
    [0, 0.3, [null, null, null], 'It does not recover within two seconds after that.'],
    [
      0.014,
      0.3,
      [0.3, 0.3, 0.3],
      'after 300 ms. At this rate it loses up to 1.4 % without an overload, too.',
    ],
  ])(
    'says what it loses after the overload, and what it loses anyway: %d, %d, %j',
    (without, lost, seconds, sentence) => {
      let trial = 0;
      const changed = withEvidence(({ limit, probes, ...evidence }) => ({
        ...evidence,
        limit,
        // Of one trial.
        probes: probes.map((probe) =>
          trial === 0 && Math.abs(probe.rate / limit - 0.5) < 1e-6 ? { ...probe, lostRatio: without } : probe,
        ),
        recovery: { rate: limit / 2, lostRatioInFirstSecond: lost, seconds: seconds[trial++] ?? null },
      }));
      expect(rendered(changed, 'md')).toContain(sentence);
    },
  );

  it('shows the CPUs where they were observed', () => {
    expect(rendered(published)).not.toMatch(/CPUs {2}|CPUs: those/);
    const text = rendered(
      withEvidence((evidence) => ({
        ...evidence,
        probes: evidence.probes.map((probe) => ({ ...probe, cpuCores: 0.487 })),
      })),
    );
    expect(text).toContain('CPUs: those that the server used');
    expect(text).toMatch(/^DinoDNS +3\.00 +.* % +0\.49 +[\d.]+ \[/m);
    for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  });
});
