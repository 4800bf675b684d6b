/** Options that several commands share, and how their texts are converted. The schemas validate the values. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { given, messageOf, type ProgramWorld, whyUnreadable } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { ZonesError } from '../errors.ts';
import type { Parity } from '../pattern.ts';

export interface CliWorld extends ProgramWorld {
  /** The base of relative paths. */
  readonly cwd: string;
}

/** The number; other text is left to the schema, which reports it together with all other problems. */
export function numberOrText(text: string): unknown {
  return /^-?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : text;
}

/** Adds the options that select names; the default of `--parity` is `parity`. */
export function addRange(command: Command, parity: Parity): Command {
  return command
    .option('--pattern <name>', 'name of the zones, {X} is the number (default: example{X}.com)')
    .option('--from <number>', 'first number (default: 1)', numberOrText)
    .option('--to <number>', 'last number (default: 200)', numberOrText)
    .option('--parity <which>', `odd, even or all numbers of the range (default: ${parity})`);
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Reads a specification from a JSON file; without a file it is empty. */
async function readConfig(file: string | undefined, world: CliWorld): Promise<Record<string, unknown>> {
  if (file === undefined) return {};
  const path = resolve(world.cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const problem = `${path} ${whyUnreadable(error)}`;
    throw new ZonesError('E_UNREADABLE', problem, 'check the path and its permissions', error);
  });
  const fix = 'write a JSON object such as { "pattern": "example{X}.com", "to": 1000 }';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const problem = `${file} is not valid JSON: ${messageOf(error)}`;
    throw new ZonesError('E_CONFIG', problem, fix, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const problem = `${file} contains ${Array.isArray(value) ? 'a list' : JSON.stringify(value)}, not an object`;
    throw new ZonesError('E_CONFIG', problem, fix);
  }
  return { ...value };
}

/** Flags of both commands; numbers are checked with the rest of the specification. */
export interface SpecFlags {
  readonly config?: string;
  readonly out?: string;
  readonly pattern?: string;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly parity?: string;
  readonly host?: string[];
}

/** What the file of `--config` specifies, and what flags specify instead. */
export async function specOf(
  { config, pattern, from, to, parity, host: hosts }: SpecFlags,
  more: Readonly<Record<string, unknown>>,
  world: CliWorld,
): Promise<object> {
  return { ...(await readConfig(config, world)), ...given({ pattern, from, to, parity, hosts, ...more }) };
}
