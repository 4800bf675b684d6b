/** What `bench doctor` says of programs: what is here, and how the rest would be installed. Changes nothing. */
import { dnsperfProgram } from '../loaders/dnsperf/program.ts';
import type { Program, ProgramInspection, WantedVersions } from '../provision/provision.ts';
import { SERVER_KINDS } from '../servers/registry.ts';
import type { ServerKind } from '../servers/server.ts';
import type { World } from '../world.ts';

export interface ToolInspection extends ProgramInspection {
  readonly program: Program;
}

/** The programs of these server kinds, and the loader's; optional ones come last. */
function programsOf(kinds: readonly ServerKind[]): Program[] {
  const programs = [...new Set(kinds.flatMap(({ program }) => program ?? []))];
  return [
    ...programs.filter(({ optional }) => !optional),
    dnsperfProgram,
    ...programs.filter(({ optional }) => optional),
  ];
}

/** Inspects every program, one after the other. */
export async function inspectTools(
  world: World,
  versions: WantedVersions,
  kinds: readonly ServerKind[] = SERVER_KINDS,
): Promise<readonly ToolInspection[]> {
  const inspections: ToolInspection[] = [];
  for (const program of programsOf(kinds))
    inspections.push({ program, ...(await program.inspect(world, versions)) });
  return inspections;
}
