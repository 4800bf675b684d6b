/** Ways to get a tool, tried in order; each that does not work says why. */
import { BenchError } from '../errors.ts';
import type { ProvisionedTool } from '../results/record.ts';

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
