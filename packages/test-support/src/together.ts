/**
 * Which test files run in one process, one after the other. A process and the sources that most files import cost 0.4 CPU seconds, often
 * more than the tests themselves. What a file changes of its process, the next one would find: so only files that change nothing.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What changes a process, or measures all of it: its environment, signals and threads, the modules and clocks that vitest replaces, its
 * time, memory and descriptors, experiments that `bench` learns. And UDP: while garbage of many files is collected, answers come late.
 * Programs and other sockets are the business of the file that starts them.
 */
const USES_PROCESS = [
  /\bprocess\.(?!(?:arch|argv|cwd|env|execArgv|execPath|hrtime|kill|nextTick|pid|platform|ts|versions?)\b)/,
  /\bprocess\.env[^\n;]* \??\??=[^=>]|\bdelete process\.|\bObject\.assign\(process\./,
  /\bvi\.(?!wait)|'--experiment'/,
  /\b(?:openUdpSocket|NativeUdpSocket)\b/,
  /'node:(?:cluster|dgram|inspector|perf_hooks|v8|vm|worker_threads)'|\/proc\/self\/fd/,
];
const IMPORT = /(?:\bfrom |\bimport |\bimport\()'(\.[^']*\/[^']*\.ts)'/g;

interface Read {
  readonly usesProcess: boolean;
  /** Files beside the sources. */
  readonly imports: readonly string[];
}

function read(path: string): Read {
  const text = readFileSync(path, 'utf8');
  const imports = [...text.matchAll(IMPORT)].map(([, file = '']) => join(dirname(path), file));
  return {
    usesProcess: USES_PROCESS.some((pattern) => pattern.test(text)),
    imports: imports.filter((file) => !file.includes('/src/')),
  };
}

/** Whether a file, with all that it imports beside the sources, neither changes nor measures its process. */
export function sharesProcess(path: string, known = new Map<string, Read>()): boolean {
  const reached = new Set([path]);
  // What is added meanwhile is visited, too.
  for (const file of reached) {
    const { usesProcess, imports } = known.get(file) ?? read(file);
    known.set(file, { usesProcess, imports });
    if (usesProcess) return false;
    for (const imported of imports) reached.add(imported);
  }
  return true;
}

/** Those among the files with these patterns, relative to `root`. */
export function filesTogether(
  root: string,
  { include, exclude }: { include: readonly string[]; exclude: readonly string[] },
): string[] {
  const known = new Map<string, Read>();
  return globSync(include, { cwd: root, exclude }).filter((file) => sharesProcess(join(root, file), known));
}
