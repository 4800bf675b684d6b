/**
 * The UDP echo of `@dinodns-bench/batched-udp`: the C program, compiled on first use and cached, or without a compiler the one
 * that runs on Node.js.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import { findExecutable, isExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import { cacheRoot, withStaging } from '../../provision/cache.ts';
import { type Attempt, firstThatWorks, inspectionOf, type Program } from '../../provision/provision.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';

const PACKAGE = '@dinodns-bench/batched-udp';
const SOURCE_NAME = `${PACKAGE}/udp-echo.c`;
const SCRIPT_NAME = `${PACKAGE}/udp-echo`;
const COMPILERS = ['cc', 'gcc', 'clang'];
const FLAGS = ['-O2'];

/** A file of the package, whose programs are started and not imported. */
function fileOfPackage(path: string): string {
  return fileURLToPath(new URL(path, import.meta.resolve(`${PACKAGE}/package.json`)));
}

async function findCompiler(world: World): Promise<string | null> {
  for (const name of COMPILERS) {
    const found = await findExecutable(world, name);
    if (found !== null) return found;
  }
  return null;
}

function tool(executable: string, version: string, origin: string): ProvisionedTool {
  return { tool: 'udp-echo', version, executable, source: 'workspace', origin, sizeBytes: null };
}

/** The C program, from the cache or compiled into it. */
export async function echoInC(world: World): Promise<Attempt> {
  const file = fileOfPackage('src/udp-echo.c');
  const source = await readIfThere(world, file);
  if (source === null) return { problem: `${SOURCE_NAME} is missing` };
  const compiler = await findCompiler(world);
  if (compiler === null) return { problem: 'there is no C compiler' };
  // A different source, compiler or machine makes a different program.
  const question = await runToEnd(world, [compiler, '--version']);
  const named = question.stdout.split('\n')[0] ?? compiler;
  const key = createHash('sha256')
    .update([source, named, world.machine.architecture, ...FLAGS].join('\0'))
    .digest('hex');
  const version = key.slice(0, 12);
  const directory = join(cacheRoot(world), 'udp-echo', version);
  const executable = join(directory, 'udp-echo');
  const origin = `${SOURCE_NAME}, compiled with ${named} ${FLAGS.join(' ')}`;
  if (await isExecutable(world, executable)) return { found: tool(executable, version, origin) };
  return withStaging(world, async (staging) => {
    const made = join(staging, 'udp-echo');
    const { code, stderr } = await runToEnd(world, [compiler, ...FLAGS, '-o', made, file]);
    if (code !== 0) return { problem: `${compiler} failed: ${stderr.split('\n')[0]}` };
    try {
      await world.fs.mkdir(directory, { recursive: true });
      await world.fs.rename(made, executable);
    } catch (error) {
      return { problem: `cannot keep it in ${directory}: ${messageOf(error)}` };
    }
    return { found: tool(executable, version, origin) };
  });
}

/** The program that runs on Node.js; it costs more than the one in C, and the record says which it was. */
export async function echoOnNode(world: World): Promise<Attempt> {
  const script = fileOfPackage('bin/udp-echo.js');
  const source = await readIfThere(world, fileOfPackage('src/udp-echo.ts'));
  if (source === null) return { problem: `${SCRIPT_NAME} is missing` };
  const node = await runToEnd(world, [world.processes.nodePath, '--version']);
  const version = createHash('sha256').update(source).digest('hex').slice(0, 12);
  return {
    found: tool(script, version, `${SCRIPT_NAME} on Node.js ${node.stdout.trim().replace(/^v/, '')}`),
  };
}

export const echoProgram: Program = {
  name: 'udp-echo',
  optional: true,
  provide: (world) =>
    firstThatWorks(
      'udp-echo',
      [
        { name: 'C', attempt: () => echoInC(world) },
        { name: 'Node.js', attempt: () => echoOnNode(world) },
      ],
      'Install @dinodns-bench/batched-udp again: it contains both programs.',
    ),
  async inspect(world) {
    const inC = await echoInC(world);
    return inspectionOf('found' in inC ? inC : await echoOnNode(world));
  },
};

/** The program on Node.js, also where there is a compiler. */
export const echoOnNodeProgram: Program = {
  name: 'udp-echo on Node.js',
  optional: true,
  provide: (world) =>
    firstThatWorks(
      'udp-echo on Node.js',
      [{ name: 'Node.js', attempt: () => echoOnNode(world) }],
      'Install @dinodns-bench/batched-udp again: it contains the program.',
    ),
  inspect: async (world) => inspectionOf(await echoOnNode(world)),
};
