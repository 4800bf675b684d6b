#!/usr/bin/env node
/** `pnpm fuzz [TARGET…]`: see the README beside. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  abortOnSignals,
  EXIT_STATUS,
  exitStatusHelp,
  ProgramError,
  reportError,
  suggestion,
} from '@dinodns-bench/program';
import { Corpus } from './corpus.ts';
import { type Progress, runCampaign } from './engine/campaign-thread.ts';
import { TARGETS } from './targets.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DEFAULT_SECONDS = 60;
/** Time between two lines of progress. */
const PROGRESS_SECONDS = 10;

const HELP = `pnpm fuzz [TARGET…] [--seconds N] [--runs N] [--seed N]

Feeds changed inputs to the readers of this workspace, keeps those that reach new code, and reports every broken
promise. Without targets: all of them, one after the other.

Targets:
${TARGETS.map(({ name, title }) => `  ${name.padEnd(12)}${title}`).join('\n')}

Options:
  --seconds N  duration for each target (default: ${DEFAULT_SECONDS})
  --runs N     executions for each target, instead of a duration; with the same --seed and corpus, the same ones
  --seed N     start of the random numbers (default: from the clock, and printed)
  --fresh      begin with the seeds only, and do not keep what is found out
  --help

Inputs that reach new code are kept in fuzz/corpus, findings in fuzz/findings.
${exitStatusHelp(['success', 'usage', 'threshold', 'interrupted', 'terminated'], { threshold: 'a target broke a promise' })}
`;

function usage(problem: string, fix: string): ProgramError {
  return new ProgramError('E_USAGE', 'usage', { problems: [{ problem, fix }] });
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw usage(
    `--${flag} must be a whole number from 1 (got ${JSON.stringify(text)})`,
    `give --${flag} 60, for example`,
  );
}

interface Settings {
  readonly names: readonly string[];
  readonly seconds: number;
  readonly runs: number;
  readonly seed: number;
  readonly fresh: boolean;
}

const OPTIONS = {
  seconds: { type: 'string' },
  runs: { type: 'string' },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

function parsed() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error), 'see pnpm fuzz --help');
  }
}

/** Null: help was asked for. */
function settings(): Settings | null {
  const { values, positionals } = parsed();
  if (values.help) return null;
  const names = TARGETS.map(({ name }) => name);
  for (const given of positionals) {
    if (!names.includes(given))
      throw usage(`no target is called ${JSON.stringify(given)}`, suggestion(given, names));
  }
  if (values.seconds !== undefined && values.runs !== undefined)
    throw usage('--seconds and --runs each say how long', 'give only one of them');
  const runs = values.runs === undefined ? Number.POSITIVE_INFINITY : wholeNumber('runs', values.runs);
  const limit = values.runs === undefined ? DEFAULT_SECONDS : Number.POSITIVE_INFINITY;
  return {
    names: positionals.length > 0 ? positionals : names,
    seconds: values.seconds === undefined ? limit : wholeNumber('seconds', values.seconds),
    runs,
    seed: values.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('seed', values.seed),
    fresh: values.fresh,
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The number of findings. */
async function fuzz(
  name: string,
  { seed, runs, seconds, fresh }: Settings,
  signal: AbortSignal,
): Promise<number> {
  const corpus = new Corpus(`${HERE}corpus/${name}`);
  const findings = new Corpus(`${HERE}findings/${name}`);
  const given = [...new Corpus(`${HERE}fixtures/${name}`).inputs(), ...(fresh ? [] : corpus.inputs())];
  let last: Progress = { executions: 0, corpus: 0, sites: 0 };
  let count = 0;
  const began = performance.now();
  const line = () => {
    const elapsed = (performance.now() - began) / 1000;
    const rate = Math.round(last.executions / elapsed);
    return `${name}: ${last.executions} executions in ${elapsed.toFixed(0)} s (${rate}/s), ${last.sites} branches, ${last.corpus} inputs, ${count} findings`;
  };
  const progress = setInterval(() => say(line()), PROGRESS_SECONDS * 1000);
  const observer = {
    onProgress: (now: Progress) => {
      last = now;
    },
    onKept: (input: Uint8Array) => {
      if (!fresh) corpus.add(input);
    },
    onFinding: (input: Uint8Array, error: string) => {
      count++;
      process.stdout.write(`${name}: ${error}\n  input: ${findings.add(input)}\n`);
    },
  };
  say(`${name}: seed ${seed}, ${given.length} inputs from earlier campaigns`);
  try {
    await runCampaign({ name, seed, corpus: given, runs, seconds }, observer, signal);
  } finally {
    clearInterval(progress);
  }
  signal.throwIfAborted();
  process.stdout.write(`${line()}\n`);
  return count;
}

async function main(): Promise<number> {
  const chosen = settings();
  if (chosen === null) {
    process.stdout.write(HELP);
    return EXIT_STATUS.success;
  }
  const signal = abortOnSignals(process, 'what was found is in fuzz/corpus and fuzz/findings');
  let findings = 0;
  for (const name of chosen.names) findings += await fuzz(name, chosen, signal);
  return findings === 0 ? EXIT_STATUS.success : EXIT_STATUS.threshold;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = reportError(error, 'fuzz', { stderr: process.stderr, env: process.env });
}
