/** What `bench doctor` says of programs: what is here, and how the rest would be installed. Changes nothing. */

import { DEFAULTS } from '../config/settings.ts';
import { dnsperfProgram } from '../loaders/dnsperf/program.ts';
import type { Program, ProgramInspection } from '../provision/provision.ts';
import { SERVER_KINDS } from '../servers/registry.ts';
import type { ServerKind } from '../servers/server.ts';
import type { World } from '../world.ts';

export interface ToolInspection extends ProgramInspection {
  readonly program: Program;
}

/** The programs of these server kinds with the versions that they have by default, and the loader's; optional ones come last. */
function programsOf(kinds: readonly ServerKind[]): [Program, string | null][] {
  const programs = new Map<Program, string | null>();
  for (const { definition, variants = {}, defaultVersion } of kinds) {
    for (const { program } of [definition, ...Object.values(variants).map((variant) => variant.definition)]) {
      if (program !== null) programs.set(program, defaultVersion?.(DEFAULTS) ?? null);
    }
  }
  return [
    ...[...programs].filter(([{ optional }]) => !optional),
    [dnsperfProgram, null],
    ...[...programs].filter(([{ optional }]) => optional),
  ];
}

/** Inspects every program, one after the other. */
export async function inspectTools(
  world: World,
  kinds: readonly ServerKind[] = SERVER_KINDS,
): Promise<readonly ToolInspection[]> {
  const inspections: ToolInspection[] = [];
  for (const [program, version] of programsOf(kinds))
    inspections.push({ program, ...(await program.inspect(world, { version })) });
  return inspections;
}
