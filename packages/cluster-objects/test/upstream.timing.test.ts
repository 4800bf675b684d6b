/** The upstream's delay is the programmed one. */
import { expect, it } from 'vitest';
import { defineExternal, startUpstream } from '../src/index.ts';
import { ask } from './support/dns.ts';

it.each([0.001, 0.0055, 0.03])('of %d s is held', async (delaySeconds) => {
  const upstream = await startUpstream({ external: defineExternal(), delaySeconds });
  try {
    const times: number[] = [];
    for (let index = 0; index < 30; index++) {
      const start = performance.now();
      await ask(upstream.port, { name: `www${index}.example.org`, type: 'A' });
      times.push((performance.now() - start) / 1000);
    }
    times.sort((a, b) => a - b);
    expect(times[0]).toBeGreaterThanOrEqual(delaySeconds);
    // The rest is the way through two sockets and this process, which is one and the same as the server's.
    expect(times[15]).toBeLessThan(delaySeconds + 0.0015);
  } finally {
    await upstream.close();
  }
});
