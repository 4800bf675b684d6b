import { describe, expect, it } from 'vitest';
import { exitStatusOf, isExplained, ProgramError, renderError, whyUnreadable } from '../src/index.ts';

const render = (error: unknown) => renderError(error, { program: 'tool', colours: false });

const one = new ProgramError('E_PORT', 'environment', {
  problems: [{ problem: 'port 53 is in use', fix: 'choose another one' }],
  evidence: ['named[12]: listening'],
});
const two = new ProgramError('E_OPTIONS', 'usage', {
  subject: 'the options are not valid',
  problems: [
    { problem: 'rate cannot be 0', fix: 'give more than 0' },
    { problem: 'seed cannot be "x"', fix: 'give a number' },
  ],
});

/** An error as another copy of a package makes it. */
function foreign(properties: object): Error {
  return Object.assign(new Error('from another copy'), properties);
}

describe('an error', () => {
  it('is shown with its code, its evidence and its fix', () => {
    expect(render(one)).toBe(
      'error [E_PORT]: port 53 is in use\n    named[12]: listening\n  fix: choose another one\n',
    );
  });

  it('shows what a server has said without its control characters', () => {
    const evidence = ['\u001b[2J\u001b]0;x\u0007 cannot bind'];
    const problems = [{ problem: 'port 53\u001b[1A is in use', fix: 'choose\u202e another' }];
    const text = render(new ProgramError('E_PORT', 'environment', { problems, evidence }));
    expect(text).toContain('\ufffd[2J\ufffd]0;x\ufffd cannot bind\n');
    for (const control of ['\u001b', '\u0007', '\u202e']) expect(text).not.toContain(control);
  });

  it('with several problems is shown with the fix below each', () => {
    expect(render(two)).toBe(
      `error [E_OPTIONS]: the options are not valid: 2 problems
  - rate cannot be 0
    fix: give more than 0
  - seed cannot be "x"
    fix: give a number
`,
    );
    expect(two.fix).toBe('give more than 0\ngive a number');
    expect(two.message).toBe(
      'the options are not valid: 2 problems\n- rate cannot be 0\n- seed cannot be "x"',
    );
  });

  it('shows a fix that all problems share once, and how many there are', () => {
    const fix = 'give a name';
    const problems = [
      { problem: 'line 1 is empty', fix },
      { problem: 'line 2 is empty', fix },
    ];
    expect(render(new ProgramError('E_FILE', 'usage', { problems, total: 100 }))).toBe(
      'error [E_FILE]: 100 problems, the first 2 of them\n  - line 1 is empty\n  - line 2 is empty\n  fix: give a name\n',
    );
  });

  it('does not show a cause that the message words', () => {
    const cause = Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' });
    const problems = [{ problem: `x ${whyUnreadable(cause)}`, fix: 'give another' }];
    expect(render(new ProgramError('E_FILE', 'environment', { problems, cause }))).toBe(
      'error [E_FILE]: x does not exist\n  fix: give another\n',
    );
  });

  it('shows its cause unless the message or the evidence quotes it', () => {
    const problems = [{ problem: 'cannot write x', fix: 'free some space' }];
    const cause = new Error('ENOSPC: no space left on device');
    expect(render(new ProgramError('E_FULL', 'output', { problems, cause }))).toContain(
      '  cause: ENOSPC: no space left on device\n',
    );
    const quoted = [{ problem: `cannot write x: ${cause.message}`, fix: 'free some space' }];
    expect(render(new ProgramError('E_FULL', 'output', { problems: quoted, cause }))).not.toContain('cause:');
    const evidence = [`write: ${cause.message}`];
    expect(render(new ProgramError('E_FULL', 'output', { problems, evidence, cause }))).not.toContain(
      'cause:',
    );
  });

  it('is coloured only where that is asked for', () => {
    expect(renderError(one, { program: 'tool', colours: true })).toContain('\u001b[31merror\u001b[39m');
    expect(render(one)).not.toContain('\u001b');
  });

  it('is recognised by its shape, whoever made it', () => {
    const error = foreign({ code: 'E_ZONES', fix: 'correct it', exitStatus: 2 });
    expect(isExplained(error)).toBe(true);
    expect(isExplained(error, 'E_OTHER', 'E_ZONES')).toBe(true);
    expect(isExplained(error, 'E_OTHER')).toBe(false);
    expect(exitStatusOf(error)).toBe(2);
    expect(render(error)).toBe('error [E_ZONES]: from another copy\n  fix: correct it\n');
  });

  it.each([foreign({ code: 'ENOENT' }), new TypeError('x is not a function'), 'text', undefined])(
    'without a code and a fix is a bug: %s',
    (error) => {
      expect(exitStatusOf(error)).toBe(1);
      expect(render(error)).toMatch(/^error: this is a bug in tool; please report it with these lines\n./);
    },
  );
});
