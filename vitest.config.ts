import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['packages/bench-cli/test/support/global-setup.ts'],
    include: ['packages/*/test/**/*.test.ts'],
    // Tests run real servers and real load on a machine that may have two cores:
    // files run one after the other, so that they do not disturb each other's timing.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 600_000,
    // The default of one second is short for what a loaded machine takes to end a process.
    expect: { poll: { timeout: 15_000 } },
  },
});
