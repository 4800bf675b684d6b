import { describe, expect, it } from 'vitest';
import { createProgress } from '../src/engine/progress.ts';
import { createDisplay, fitLine } from '../src/progress/display.ts';
import { provisionProgress } from '../src/progress/provision-progress.ts';
import { foldLines, formatDuration, shellCommand, wrapText } from '../src/text.ts';
import { realClock } from '../src/world.ts';

function output(columns?: number) {
  let text = '';
  return {
    write: (part: string) => {
      text += part;
    },
    isTerminal: columns !== undefined,
    columns,
    text: () => text,
  };
}

describe('the display', () => {
  it('replaces the live line on a terminal, and removes it before a line that stays', () => {
    const out = output(20);
    const display = createDisplay(out);
    display.live('one');
    display.live('two');
    display.line('stays');
    display.clear();
    expect(out.text()).toBe('\r\u001b[2Kone\r\u001b[2Ktwo\r\u001b[2Kstays\n');
  });

  it('writes only lines that stay without a terminal', () => {
    const out = output();
    const display = createDisplay(out);
    display.live('one');
    display.line('stays');
    expect(out.text()).toBe('stays\n');
  });

  it('cuts a live line to the terminal, so that it never wraps', () => {
    expect(fitLine('0123456789', 10)).toBe('0123456789');
    expect(fitLine('0123456789', 9)).toBe('01234567…');
    expect(fitLine('\u001b[31m0123\u001b[39m', 4)).toBe('\u001b[31m0123\u001b[39m');
  });

  it('tells of a long build now and then where there is no terminal', () => {
    const out = output();
    let now = 0;
    const progress = provisionProgress(createDisplay(out), { ...realClock, monotonicSeconds: () => now });
    progress.step('Building');
    for (now = 1; now <= 40; now += 1) progress.detail(`${now} packages`);
    expect(out.text()).toBe('Building\n  15 packages (15 s)\n  30 packages (30 s)\n');
  });
});

describe('text', () => {
  it.each([
    [0, '0 s'],
    [59.6, '1 min'],
    [75, '1 min 15 s'],
    [3600, '1 h'],
    [32_589, '9 h 3 min'],
  ])('says %d seconds as %s', (seconds, expected) => {
    expect(formatDuration(seconds)).toBe(expected);
  });

  it('quotes what a shell would take apart, and nothing else', () => {
    expect(shellCommand(['bench', '--tier', '0.5,1', "it's", 'a b', ''])).toBe(
      `bench --tier 0.5,1 'it'\\''s' 'a b' ''`,
    );
  });

  it('wraps at spaces', () => {
    expect(wrapText('aa bb  cc dddddd', 5)).toEqual(['aa bb', 'cc', 'dddddd']);
  });

  it('folds long lines below their indentation, and leaves short ones and their spaces alone', () => {
    expect(foldLines('a  b\n  state  aaaa bbbb cccc\n', 14)).toBe('a  b\n  state aaaa\n    bbbb cccc\n');
  });
});

describe('the time left of trials side by side', () => {
  it('counts what the trials under way have taken', () => {
    let now = 0;
    const lines: string[] = [];
    const item = { key: 'a', subject: 'a', point: {}, expectedSeconds: 600, aa: false };
    const missing = Array.from({ length: 12 }, (_, round) => ({
      key: `a#${round}`,
      case: item,
      round,
      order: round,
    }));
    const progress = createProgress({
      display: {
        line: (text) => lines.push(text),
        live: () => undefined,
        clear: () => undefined,
        isLive: false,
      },
      clock: { ...realClock, monotonicSeconds: () => now },
      cases: [item],
      titles: new Map(),
      missing,
      total: 12,
      lanes: 4,
    });
    const lanes = missing.map((planned) => ({ planned, line: 'done' }));
    for (const lane of lanes.slice(0, 4)) progress.eventsOf(lane, lane.planned).part('began');
    now = 1200;
    for (const lane of lanes.slice(0, 1)) progress.ended(lane, [lane]);
    // Twice as slow as expected: four lanes for half an hour, less what three of them have done.
    expect(lines).toEqual([
      ...lanes
        .slice(0, 4)
        .map((_, index) => `${index + 1}/12  a, trial ${index + 1}: began; about 30 min left`),
      '1/12  a, trial 1: done; about 40 min left',
    ]);
  });
});
