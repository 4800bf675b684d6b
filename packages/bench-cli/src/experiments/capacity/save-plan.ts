/** Keeps a verified plan as a run: its record, and the reports beside it. */
import { relative } from 'node:path';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { filesOf } from '../../report/renderer.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import { runHead } from '../../results/run-head.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import type { MemoryBasis } from './memory-basis.ts';
import { curvesOf } from './plan-curves.ts';
import { planFormats } from './plan-document.ts';
import { type CapacityPlan, type PlanRecord, planKind } from './plan-record.ts';
import type { Verified } from './verify/verify-plan.ts';

export interface VerifiedPlan extends Verified {
  readonly plan: CapacityPlan;
  readonly basis: MemoryBasis;
  readonly startedAt: Date;
  readonly argv: readonly string[];
  /** Directory of the runs. */
  readonly out: string;
}

/** Resolves when it is saved, and says where on stderr. */
export async function savePlan(world: World, verified: VerifiedPlan): Promise<void> {
  const { plan, basis, verification, environment, warnings, startedAt, argv, out } = verified;
  const store = createStore(world, out);
  const made: PlanRecord = {
    schemaVersion: 1,
    experiment: 'capacity-plan',
    id: newRunId(startedAt),
    ...runHead(argv, startedAt.toISOString()),
    status: 'complete',
    endedAt: world.clock.now().toISOString(),
    environment,
    warnings: [...warnings],
    servers: [verification.coredns],
    plan,
    basis: { kind: basis.kind, source: basis.source, formula: basis.formula },
    curves: curvesOf(plan, basis),
    verification,
  };
  const record = withPortablePaths(made, { cwd: world.cwd, home: world.env.HOME });
  const directory = store.directoryOf(record.id);
  await store.makeRawDirectory(directory);
  await store.saveAs(planKind, record, directory);
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(planFormats), record, options));
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
}
