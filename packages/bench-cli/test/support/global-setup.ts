/**
 * Before any test: CoreDNS and dnsperf are got like the main job gets them, so that `pnpm test` works on a
 * machine that has neither. Knot, NSD and the like are used where they are installed; with
 * DINODNS_BENCH_REQUIRE_SERVERS=1 (as in CI) a missing one is a failure.
 */
import { DEFAULT_COREDNS_VERSION } from '../../src/config/settings.ts';
import { createDisplay } from '../../src/progress/display.ts';
import { provisionProgress } from '../../src/progress/provision-progress.ts';
import { createProvisioner } from '../../src/provision/provisioner.ts';
import { realWorld } from '../../src/world.ts';

export default async function setup(): Promise<void> {
  const world = realWorld();
  const display = createDisplay(world.stderr);
  const provide = createProvisioner(world);
  for (const tool of ['coredns', 'dnsperf'] as const) {
    await provide(tool, {
      allowed: true,
      corednsVersion: DEFAULT_COREDNS_VERSION,
      progress: provisionProgress(display, world.clock),
      signal: new AbortController().signal,
    });
  }
  display.clear();
}
