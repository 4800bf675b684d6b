import { defineConfig } from 'vitest/config';

/** `pnpm test:conformance`: suites of others, whose data is not in the repository, and real servers beside ours. */
export default defineConfig({
  test: {
    include: ['packages/server-cluster/test/conformance/**/*.conformance.ts'],
    testTimeout: 110_000,
    hookTimeout: 60_000,
  },
});
