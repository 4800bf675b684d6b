/** Versions that programs report; only a program that runs has one. */
import { runToEnd } from '../process.ts';
import type { World } from '../world.ts';

/** How to ask a program for its version, and how to find it in the output. */
export interface VersionQuestion {
  readonly arguments: readonly string[];
  readonly pattern: RegExp;
}

/** `go version go1.26.8 linux/amd64` */
export const GO_VERSION: VersionQuestion = { arguments: ['version'], pattern: /\bgo(\d\S*)/ };

/** `Version 2.10.0`, on this machine and in its image. */
export const DNSPERF_VERSION: VersionQuestion = { arguments: ['-h'], pattern: /^Version (\S+)/m };

/** Reads the version from a program's output; null if it is missing. */
export function readVersion({ pattern }: VersionQuestion, output: string): string | null {
  return pattern.exec(output)?.[1] ?? null;
}

/** Asks the executable; null if it cannot be run or prints something else. */
export async function askVersion(
  world: World,
  question: VersionQuestion,
  executable: string,
): Promise<string | null> {
  try {
    const { stdout, stderr } = await runToEnd(world, [executable, ...question.arguments]);
    return readVersion(question, `${stdout}\n${stderr}`);
  } catch {
    return null;
  }
}
