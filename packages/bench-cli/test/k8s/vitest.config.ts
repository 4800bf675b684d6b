import { defineConfig } from 'vitest/config';

/** `pnpm test:k8s`: needs KUBECONFIG, and the images of `bench images` where the nodes get them. */
export default defineConfig({
  test: {
    include: ['packages/bench-cli/test/k8s/**/*.k8s.ts'],
    globalSetup: ['packages/bench-cli/test/k8s/support/account.ts'],
    // Trials must not disturb each other, and "nothing is left" is a statement about the whole cluster.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 90_000, interval: 200 } },
  },
});
