/** What is longer than the device's MTU, in a network namespace with a loopback device of 1,500 bytes. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileNeeds, namespaceName } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';

const { it } = fileNeeds('ip', 'root');
const run = promisify(execFile);
const program = fileURLToPath(new URL('support/fragments.ts', import.meta.url));
const namespace = namespaceName('fragments');

const ip = (...args: string[]) => run('ip', args);

beforeAll(async () => {
  await ip('netns', 'add', namespace);
  await ip('-n', namespace, 'link', 'set', 'lo', 'mtu', '1500', 'up');
});
afterAll(() => ip('netns', 'del', namespace));

it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
  'is sent in fragments, or with dontFragment not at all: %s',
  async (address) => {
    const { stdout } = await ip('netns', 'exec', namespace, process.execPath, program, address);
    expect(JSON.parse(stdout)).toEqual({
      fragmented: { received: [1400, 2000], sendErrors: 0 },
      whole: { received: [1400], sendErrors: 1 },
    });
  },
);
