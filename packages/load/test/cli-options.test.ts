/** What flags mean together. */
import { expect, it } from 'vitest';
import { optionsFrom } from './support/cli.ts';

const durationOf = (line: string) => optionsFrom('192.0.2.1', ...line.split(' ')).durationSeconds;

it.each(['--ramp 0:1k', '--steps 100,1k'])('%s takes the default time, whatever else ends it', (load) => {
  for (const end of ['-n 2', '--max-queries 1000']) {
    expect(durationOf(`${load} ${end}`)).toBe(10);
    expect(durationOf(`${load} ${end} -d 3`)).toBe(3);
  }
});

it.each(['-n 2', '--max-queries 1000', '--pcap x', '-R 5 -n 2'])('%s ends by itself, at any time', (line) => {
  expect(durationOf(line)).toBeGreaterThan(86_400);
});
