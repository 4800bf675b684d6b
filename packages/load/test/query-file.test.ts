/** Error messages for query files that cannot be read. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LoadError } from '../src/errors.ts';
import { parseQueryFile } from '../src/workload/query-file.ts';
import { plan } from './support/plans.ts';

function countOf(content: string | Uint8Array): number {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return parseQueryFile('FILE', bytes, () => undefined);
}

const NAME_255 = `${`${'y'.repeat(63)}.`.repeat(3)}${'y'.repeat(61)}`;

describe('errors', () => {
  const failure = (content: string) => {
    try {
      countOf(content);
    } catch (error) {
      if (error instanceof LoadError) return error;
    }
    throw new Error('nothing was thrown');
  };

  test('the line number, the value and the fix', () => {
    const error = failure('; comment\n\nexample.com A\nexample.com AAAAA\n');
    expect(error.code).toBe('E_QUERY_FILE');
    expect(error.message).toBe('FILE, line 4: "AAAAA" is not a type');
    expect(error.fix).toContain('did you mean AAAA?');
    expect(error.exitStatus).toBe(2);
  });

  test('an abbreviated type, which dnsperf would guess, and a name of 256 bytes', () => {
    expect(failure('example.com AAA\n').message).toContain('"AAA" is not a type');
    expect(failure(`${NAME_255}y A\n`).message).toContain('256 bytes');
    expect(failure('a\\256.com A\n').message).toContain('more than 255');
  });

  test('all problems of a file at once, up to ten', () => {
    const error = failure(Array.from({ length: 30 }, (_, i) => `line${i}`).join('\n'));
    expect(error.problems).toHaveLength(10);
    expect(error.problems[9]?.problem).toBe('FILE, line 10: "line9" has no type');
    expect(error.message).toMatch(/^30 problems, the first 10 of them\n/);
  });

  test('Windows line ends are named', () => {
    expect(failure('example.com A\r\n').message).toContain('carriage return');
  });

  test('bytes that are not UTF-8 reach the message unchanged', () => {
    const names: string[] = [];
    parseQueryFile('FILE', Uint8Array.from([0xff, 0xfe, 0x2e, 0x80, 0x20, 0x41]), (name) =>
      names.push(Buffer.from(name).toString('hex')),
    );
    expect(names).toEqual(['02fffe018000']);
  });

  test('a file that does not exist', async () => {
    await expect(plan({ kind: 'file', path: join(tmpdir(), 'missing') })).rejects.toMatchObject({
      code: 'E_UNREADABLE',
      exitStatus: 3,
    });
  });
});
