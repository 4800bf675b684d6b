/** The echo server of this package, as `bench` starts it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { behavesAsEcho } from './support/echo.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../src/udp-echo.ts', import.meta.url));

it.each(['native', 'dgram'])('is a program of this package, over %s', (backend) =>
  behavesAsEcho(process.execPath, program, '--backend', backend),
);

it('says what is wrong with its arguments, with status 2', async () => {
  const wrong = (...args: string[]) => run(process.execPath, [program, ...args]);
  await expect(wrong('--port', 'http')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \[ERR_UDP_OPTION\]: local port NaN is not an integer from 0 to 65535\n {2}fix: /,
    ),
  });
  await expect(wrong('--speed', '9')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("'--speed'"),
  });
});
