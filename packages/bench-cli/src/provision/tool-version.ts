/** What versions the tools say they are; only a tool that runs has one. */
import { runToEnd } from '../process.ts';
import type { World } from '../world.ts';

interface VersionQuestion {
  readonly arguments: readonly string[];
  readonly pattern: RegExp;
}

const QUESTIONS = {
  // CoreDNS-1.15.0
  coredns: { arguments: ['-version'], pattern: /^CoreDNS-(\S+)/m },
  // Version 2.10.0
  dnsperf: { arguments: ['-h'], pattern: /^Version (\S+)/m },
  // knotd (Knot DNS), version 3.2.6
  knotd: { arguments: ['--version'], pattern: /version (\d\S*)/ },
  // NSD version 4.6.1, on standard error
  nsd: { arguments: ['-v'], pattern: /^NSD version (\S+)/m },
  // go version go1.26.8 linux/amd64
  go: { arguments: ['version'], pattern: /\bgo(\d\S*)/ },
} as const satisfies Record<string, VersionQuestion>;

export type VersionedTool = keyof typeof QUESTIONS;

/** Reads a version out of what the tool prints; null if it is not there. */
export function parseToolVersion(tool: VersionedTool, output: string): string | null {
  return QUESTIONS[tool].pattern.exec(output)?.[1] ?? null;
}

/** Asks the executable; null if it cannot be run or prints something else. */
export async function askToolVersion(
  world: World,
  tool: VersionedTool,
  executable: string,
): Promise<string | null> {
  try {
    const { stdout, stderr } = await runToEnd(world.processes.start, [
      executable,
      ...QUESTIONS[tool].arguments,
    ]);
    return parseToolVersion(tool, `${stdout}\n${stderr}`);
  } catch {
    return null;
  }
}
