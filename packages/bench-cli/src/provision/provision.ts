/** What bench needs to know about a program to find it, install it, and explain what is wrong with it. */
import { BenchError } from '../errors.ts';
import type { ProvisionedTool } from '../results/record.ts';
import type { World } from '../world.ts';

/** The tool, or in words why this way does not work. */
export type Attempt =
  | { readonly found: ProvisionedTool }
  /** `reason`: the same in few words, where it is longer. */
  | { readonly problem: string; readonly reason?: string };

export interface Way {
  /** For the list of what was tried: "the cache", "go install". */
  readonly name: string;
  attempt(): Promise<Attempt>;
}

/** The first way that works. Rejects with `E_TOOL_MISSING` and what was tried as evidence. */
export async function firstThatWorks(
  tool: string,
  ways: readonly Way[],
  fix: string,
): Promise<ProvisionedTool> {
  const tried: string[] = [];
  for (const { name, attempt } of ways) {
    const outcome = await attempt();
    if ('found' in outcome) return outcome.found;
    tried.push(`${name}: ${outcome.problem}`);
  }
  throw new BenchError('E_TOOL_MISSING', `${tool} is not installed and could not be obtained`, {
    evidence: tried,
    fix,
  });
}

/** Tells the user what is being done; `detail` changes often (bytes so far, packages compiled). */
export interface ProvisionProgress {
  step(text: string): void;
  detail(text: string): void;
}

/** Which version of a program is wanted. */
export interface WantedVersion {
  /** Without a leading `v`, for example `1.15.0`; null for the one that is there, or comes with bench. */
  readonly version: string | null;
}

export interface ProvisionOptions extends WantedVersion {
  /** False under `--no-provision`: only what is on PATH or in the cache is used. */
  readonly allowed: boolean;
  readonly progress: ProvisionProgress;
  readonly signal: AbortSignal;
}

/** For a program of which every version can be had. */
export type VersionedOptions = ProvisionOptions & { readonly version: string };

/** What `bench doctor` says of a program. */
export interface ProgramInspection {
  readonly found: ProvisionedTool | null;
  /** Why it is missing; null if it is not. */
  readonly problem: string | null;
  /** How bench would install it, in words; null if it is here or cannot be installed. */
  readonly installMethod: string | null;
  /** What the user can do where bench cannot; null otherwise. */
  readonly fix: string | null;
}

/** A program that runs on this machine: of a server kind, or a loader. */
export interface Program {
  /** In records, errors and `bench doctor`. */
  readonly name: string;
  /** Used where it is installed, never provisioned. */
  readonly optional: boolean;
  /** Finds or installs it. Rejects with `E_TOOL_MISSING` or `E_PROVISION_FAILED`, each with a fix. */
  provide(world: World, options: ProvisionOptions): Promise<ProvisionedTool>;
  /**
   * Rejects with the nearest versions if the wanted one is neither here nor anywhere (`E_UNKNOWN_SERVER`), or cannot be had
   * from here (`E_TOOL_MISSING`). Changes nothing, takes seconds, and resolves if nobody can be asked. Default: any version may exist.
   */
  demandVersion?(world: World, wanted: WantedVersion, signal: AbortSignal): Promise<void>;
  /** Looks for it. Changes nothing. */
  inspect(world: World, wanted: WantedVersion): Promise<ProgramInspection>;
}

/** Resolves with where the program is; rejects as `Program.provide` does. */
export type ProvideTool = (program: Program, options: ProvisionOptions) => Promise<ProvisionedTool>;

/** The inspection that follows from an attempt to find a program. */
export function inspectionOf(attempt: Attempt): ProgramInspection {
  return 'found' in attempt
    ? { found: attempt.found, problem: null, installMethod: null, fix: null }
    : { found: null, problem: attempt.problem, installMethod: null, fix: null };
}

/** Provides programs for this machine. Calls for the same program at the same time share the work. */
export function createProvisioner(world: World): ProvideTool {
  const underWay = new Map<string, Promise<ProvisionedTool>>();
  return (program, options) => {
    const key = `${program.name} ${options.version} ${options.allowed}`;
    const sharing = underWay.get(key) ?? program.provide(world, options).finally(() => underWay.delete(key));
    underWay.set(key, sharing);
    return sharing;
  };
}
