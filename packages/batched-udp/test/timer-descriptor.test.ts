/** A timer that poll(2) waits for. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadLibc } from '../src/native/koffi.ts';
import { constants, layout } from '../src/native/layout.ts';
import type { Libc } from '../src/native/libc.ts';
import { TimerDescriptor } from '../src/native/timer-descriptor.ts';

const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

async function open() {
  const real = await loadLibc();
  let settings = 0;
  const timerfd_settime: Libc['timerfd_settime'] = (...given) => {
    settings++;
    return real.timerfd_settime(...given);
  };
  const timer = new TimerDescriptor({ ...real, timerfd_settime });
  onTestFinished(() => timer.close());
  const entry = new DataView(new ArrayBuffer(128));
  entry.setInt32(layout.pollfd.fd, timer.fd, true);
  entry.setInt16(layout.pollfd.events, constants.POLLIN, true);
  const address = real.addressOf(entry.buffer);
  return {
    timer,
    settings: () => settings,
    /** Whether it is readable within that many ms. */
    isReadable: (ms: number) => real.poll(address, 1, ms) === 1,
  };
}

describe.runIf(native)('a timer descriptor', () => {
  it.each([1, 20, 1100])('is readable after %i ms, not before, and until it is set again', async (ms) => {
    const { timer, isReadable } = await open();
    const start = performance.now();
    timer.set(ms);
    expect(isReadable(5000)).toBe(true);
    expect(performance.now() - start).toBeGreaterThanOrEqual(ms);
    expect(isReadable(0)).toBe(true);
    timer.set(5000);
    expect(isReadable(0)).toBe(false);
  });

  it('is never readable if it was never set, or set to never', async () => {
    const { timer, isReadable } = await open();
    expect(isReadable(20)).toBe(false);
    timer.set(5);
    timer.set(-1);
    expect(isReadable(20)).toBe(false);
  });

  it('is set for another time only: the event loop counts whole milliseconds', async () => {
    const { timer, settings } = await open();
    for (let round = 0; round < 10; round++) timer.set(1_000_000);
    // Ten calls do not take 10 ms, unless the machine is very busy.
    expect(settings()).toBeLessThan(10);
    const before = settings();
    timer.set(500);
    timer.set(-1);
    timer.set(-1);
    expect(settings()).toBe(before + 2);
  });
});
