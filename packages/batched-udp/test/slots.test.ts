/** Where the slots of a batch lie in memory. */
import { expect, it } from 'vitest';
import { slotStride } from '../src/native/message-memory.ts';

it('spaces slots by an odd number of cache lines, so that they do not share cache sets', () => {
  for (const slotBytes of [512, 1232, 4095, 4096, 65_535]) {
    const stride = slotStride(slotBytes);
    expect(stride).toBeGreaterThanOrEqual(slotBytes);
    expect(stride).toBeLessThanOrEqual(slotBytes + 128);
    expect((stride / 64) % 2).toBe(1);
  }
});
