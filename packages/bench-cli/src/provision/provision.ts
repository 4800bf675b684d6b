/**
 * Finds the programs that a run needs and gets those that are missing.
 */
import type { ProvisionedTool } from '../results/record.ts';
import type { ToolName } from '../servers/server.ts';

/** Tells the user what is being done; `detail` changes often (bytes so far, packages compiled). */
export interface ProvisionProgress {
  step(text: string): void;
  detail(text: string): void;
}

export interface ProvisionOptions {
  /** False under `--no-provision`: only what is on PATH or in the cache is used. */
  readonly allowed: boolean;
  /** Without a leading `v`, for example `1.15.0`. */
  readonly corednsVersion: string;
  readonly progress: ProvisionProgress;
  readonly signal: AbortSignal;
}

/** Resolves with where the tool is; rejects with `E_TOOL_MISSING` or `E_PROVISION_FAILED`, each with a fix. */
export type ProvideTool = (tool: ToolName, options: ProvisionOptions) => Promise<ProvisionedTool>;
