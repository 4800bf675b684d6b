import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { abortOnSignals, OutputClosed, reportError, terminalOf, usageError, writeOut } from '../src/index.ts';

/** An output that takes `limit` chunks, then fails with `code`. */
class Limited extends Writable {
  text = '';
  readonly #limit: number;
  readonly #code: string;
  constructor(limit: number, code: string) {
    super();
    this.#limit = limit;
    this.#code = code;
  }
  #count = 0;
  override _write(chunk: unknown, _encoding: string, done: (error?: Error) => void) {
    if (this.#count++ >= this.#limit) return done(Object.assign(new Error(this.#code), { code: this.#code }));
    this.text += String(chunk);
    done();
  }
}

describe('writing results', () => {
  it('takes text and chunks', async () => {
    const stdout = new Limited(3, 'ENOSPC');
    await writeOut({ stdout }, 'one ');
    await writeOut({ stdout }, ['two ', 'three']);
    expect(stdout.text).toBe('one two three');
  });

  it('ends quietly when nobody reads on', async () => {
    const failure = await writeOut({ stdout: new Limited(1, 'EPIPE') }, ['a', 'b']).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(OutputClosed);
    const stderr = new Limited(1, 'EPIPE');
    expect(reportError(failure, 'tool', { stderr })).toBe(0);
    expect(stderr.text).toBe('');
  });

  it('says that it cannot', async () => {
    const stdout = new Limited(0, 'ENOSPC');
    await expect(writeOut({ stdout }, 'a')).rejects.toMatchObject({ code: 'E_WRITE_FAILED', exitStatus: 7 });
  });

  it('stops between chunks when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(writeOut({ stdout: new Limited(9, 'EPIPE'), signal }, ['a'])).rejects.toThrow('stopped');
  });
});

it.each([
  [{ isTTY: true }, {}, { live: true, colours: true }],
  [{ isTTY: true }, { NO_COLOR: '1' }, { live: true, colours: false }],
  [{ isTTY: true }, { NO_COLOR: '' }, { live: true, colours: true }],
  [{ isTTY: true }, { TERM: 'dumb' }, { live: false, colours: false }],
  [{}, {}, { live: false, colours: false }],
])('%j with %j is a terminal: %j', (stream, env, expected) => {
  expect(terminalOf(stream, env)).toEqual(expected);
});

it.each([
  ['SIGINT', 'E_INTERRUPTED', 130],
  ['SIGTERM', 'E_TERMINATED', 143],
])('%s aborts with %s, a second one ends the process with %i', (name, code, status) => {
  const statuses: unknown[] = [];
  const process = Object.assign(new EventEmitter(), {
    exit: (given: number): never => {
      statuses.push(given);
      throw new Error('ended');
    },
  });
  const signal = abortOnSignals(process, 'run it again');
  process.emit(name);
  expect(signal.reason).toMatchObject({ code, exitStatus: status, fix: 'run it again' });
  expect(() => process.emit(name)).toThrow('ended');
  expect(statuses).toEqual([status]);
});

it("takes commander's suggestion as the fix, if it has one", () => {
  const complain = (message: string) =>
    Object.assign(new Error(message), { name: 'CommanderError', exitCode: 1 });
  expect(
    usageError(complain("error: unknown option '--x'\n(Did you mean --y?)"), 'see --help'),
  ).toMatchObject({
    code: 'E_USAGE',
    message: "unknown option '--x'",
    fix: 'Did you mean --y?',
  });
  expect(usageError(complain("error: unknown option '--x'"), 'see --help')).toMatchObject({
    fix: 'see --help',
  });
  const other = new Error('other');
  expect(usageError(other, 'see --help')).toBe(other);
});
