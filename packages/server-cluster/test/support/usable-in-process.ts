import { execFileSync } from 'node:child_process';

const PROGRAM = `import { usableCpus } from '${new URL('../../src/cpus/usable-cpus.ts', import.meta.url)}';
console.log(JSON.stringify(usableCpus()));`;

/** What a new process may use, started through the commands of `wrapper`. */
export function usableInProcess(wrapper: readonly string[] = []): {
  cpus: number;
  limit: number;
  source: string;
} {
  const [command = '', ...args] = [
    ...wrapper,
    process.execPath,
    '--input-type=module-typescript',
    '-e',
    PROGRAM,
  ];
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8' }));
}
