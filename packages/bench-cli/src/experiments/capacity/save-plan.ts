/** Keeps a verified plan as a run: its record, and the reports beside it. */
import { relative } from 'node:path';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import { filesOf } from '../../report/renderer.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore } from '../../results/store.ts';
import { shellCommand } from '../../text.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { World } from '../../world.ts';
import type { MemoryBasis } from './memory-basis.ts';
import type { CapacityPlan } from './plan.ts';
import { curvesOf } from './plan-curves.ts';
import { type PlanRecord, planKind } from './plan-record.ts';
import { planFormats } from './report.ts';
import type { Verification } from './verify/verification.ts';

export interface VerifiedPlan {
  readonly plan: CapacityPlan;
  readonly basis: MemoryBasis;
  readonly verification: Verification;
  readonly startedAt: Date;
  readonly argv: readonly string[];
  /** Directory of the runs. */
  readonly out: string;
}

/** Resolves when it is saved, and says where on stderr. */
export async function savePlan(world: World, verified: VerifiedPlan): Promise<void> {
  const { plan, basis, verification, startedAt, argv, out } = verified;
  const store = createStore(world, out);
  const record: PlanRecord = {
    schemaVersion: 1,
    experiment: 'capacity-plan',
    id: newRunId(startedAt),
    generator: { name: 'dinodns-bench', version: BENCH_VERSION },
    status: 'complete',
    startedAt: startedAt.toISOString(),
    endedAt: world.clock.now().toISOString(),
    command: shellCommand(['pnpm', 'bench', ...argv]),
    argv: [...argv],
    environment: await describeEnvironment(world),
    warnings: [],
    servers: [verification.coredns],
    plan: { ...plan, figures: [...plan.figures], verdicts: [...plan.verdicts], notes: [...plan.notes] },
    basis: { kind: basis.kind, source: basis.source, formula: basis.formula },
    curves: curvesOf(plan, basis),
    verification: { ...verification, phases: [...verification.phases] },
  };
  const directory = store.directoryOf(record.id);
  await store.makeRawDirectory(directory);
  await store.saveAs(planKind, record, directory);
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(planFormats), record, options));
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
}
