/** Targets that misbehave, for the test of the thread that watches them. */
import type { Target } from '../engine/target.ts';

const plain = { title: '', maxBytes: 64, dictionary: [], seeds: () => [Buffer.from('seed')] };

export const hang: Target = {
  ...plain,
  name: 'hang',
  check(input) {
    while (input[0] === 0x73);
  },
};

export const memory: Target = {
  ...plain,
  name: 'memory',
  check() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, at) => at));
  },
};
