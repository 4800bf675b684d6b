/** What the exit statuses of curl mean (curl(1)), for those that a lookup or a connection can end with. */
import type { FailedSample } from './sample.ts';

const MEANINGS: Readonly<Record<number, string>> = {
  3: 'malformed URL',
  5: 'the proxy could not be resolved',
  6: 'the name could not be resolved',
  7: 'no connection',
  28: 'time limit of 8 s',
  35: 'the TLS handshake failed',
  52: 'the server sent no answer',
  56: 'the connection was broken off',
  60: 'the certificate could not be verified',
  127: 'curl is not there',
};

/** `28 (time limit of 8 s)`; null stands for output that could not be read. */
export function exitText(exitCode: number | null): string {
  if (exitCode === null) return 'unreadable output';
  if (exitCode > 128 && MEANINGS[exitCode] === undefined) return `${exitCode} (signal ${exitCode - 128})`;
  const meaning = MEANINGS[exitCode];
  return meaning === undefined ? String(exitCode) : `${exitCode} (${meaning})`;
}

/** Why this sample did not succeed; undefined for one that was not even taken. */
export function sampleProblem(sample: FailedSample | undefined): string {
  return sample === undefined
    ? 'the sampler ended before its first sample'
    : `exit status ${exitText(sample.exitCode)}`;
}
