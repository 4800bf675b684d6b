/** The program of a server file: found, asked for its version, never installed. */
import { resolve } from 'node:path';
import { BenchError } from '../../errors.ts';
import { findDaemon, isExecutable } from '../../machine/find-executable.ts';
import { runToEnd } from '../../process.ts';
import { inspectionOf, type Program } from '../../provision/provision.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';
import type { Description, OwnFile } from './description.ts';

/** Node.js runs these, so they need not be executable. */
const SCRIPT = /\.[cm]?[jt]s$/;

/** Absolute path of a program: `{node}`, one with a slash relative to the directory, else one in PATH; null if missing. */
async function findProgram(world: World, word: string, directory: string): Promise<string | null> {
  if (word === '{node}') return world.processes.nodePath;
  if (!word.includes('/')) return findDaemon(world, word);
  const path = resolve(directory, word);
  if (!SCRIPT.test(path)) return (await isExecutable(world, path)) ? path : null;
  return world.fs.access(path).then(
    () => path,
    () => null,
  );
}

function notFound(name: string, { path, directory }: OwnFile, key: string, word: string): BenchError {
  const where = word.includes('/') ? `is not an executable file in ${directory}` : 'is not in PATH';
  return new BenchError('E_TOOL_MISSING', `${name}: "${word}" ${where}`, {
    fix: `Correct ${key} in ${path}, or install the program.`,
  });
}

/** What `version` says; `unknown` without it. */
async function askVersion(
  world: World,
  name: string,
  { version }: Description,
  file: OwnFile,
): Promise<string> {
  if (version === undefined) return 'unknown';
  const [word = '', ...words] = version.command;
  const executable = await findProgram(world, word, file.directory);
  if (executable === null) throw notFound(name, file, 'version.command', word);
  const command = [...(SCRIPT.test(executable) ? [world.processes.nodePath] : []), executable, ...words];
  const { stdout, stderr, code } = await runToEnd(world, command, { cwd: file.directory });
  const output = `${stdout}\n${stderr}`.trim();
  const found = new RegExp(version.pattern, 'm').exec(output)?.[1];
  if (found !== undefined) return found;
  throw new BenchError(
    'E_CONFIG',
    `${name}: version.pattern of ${file.path} does not match what the command prints`,
    {
      evidence: [
        `${command.join(' ')} ended with ${code ?? 'a signal'} and printed:`,
        ...output.split('\n').slice(0, 5),
      ],
      fix: 'Correct version.command or version.pattern, or omit version.',
    },
  );
}

export function ownProgram(name: string, description: Description, file: OwnFile): Program {
  const provide = async (world: World): Promise<ProvisionedTool> => {
    const [word = ''] = description.command;
    const executable = await findProgram(world, word, file.directory);
    if (executable === null) throw notFound(name, file, 'command', word);
    return {
      tool: name,
      version: await askVersion(world, name, description, file),
      executable,
      source: 'path',
      origin: `the command of ${file.path}`,
      sizeBytes: (await world.fs.stat(executable)).size,
    };
  };
  return {
    // Unlike the name of any program of bench's own.
    name: `${name}=${file.path}`,
    optional: true,
    provide,
    inspect: async (world) => inspectionOf({ found: await provide(world) }),
  };
}
