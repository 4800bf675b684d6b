/** Several commands one after the other in one container: the script that runs them, and what it prints. Pure. */
import { BenchError } from '../errors.ts';
import { SCRATCH_DIRECTORY } from '../targets/kubernetes/objects/pods.ts';
import { shellCommand } from '../text.ts';
import { parseTimes } from './cluster-job.ts';
import { fitsInArgument } from './loader.ts';

const STEP = /^\[bench\] step (\d+) ?(.*)$/;
const STATUS = '[bench] status ';

/**
 * Arguments: the order, as `group:command` with the number of a command; the pattern; the commands. `times` counts everything
 * that the shell has run so far, so that the CPU time of a step is the difference to the step before. With the output of a
 * step in a file, its lines cannot be mixed with those of the shell.
 */
const SCRIPT = `order=$1; pattern=$2; output=$3; shift 3
index=0; out=' '
for item in $order; do
  group=\${item%%:*}
  case $out in
  *" $group "*) ;;
  *)
    eval "step=\\\${\${item#*:}}"
    echo "[bench] step $index $(date +%s.%N)"
    eval "$step" >"$output" 2>&1
    status=$?
    cat "$output"
    echo '[bench] times'; times
    echo "[bench] status $status"
    if [ $status -ne 0 ] || grep -q "$pattern" "$output"; then out="$out$group "; fi
    ;;
  esac
  index=$((index + 1))
done`;

/** A command to run. */
export interface StepRequest {
  readonly command: readonly string[];
  /** Steps with the same have something in common, such as the server that they need. */
  readonly group: string;
}

export interface StepsOptions {
  /** A basic regular expression. */
  readonly pattern: string;
  /** A file for the output of one step. */
  readonly outputFile?: string;
}

/**
 * The command of a container that runs these commands, each once, in this order. Where one fails, or prints a line with the
 * pattern, the rest of its group is omitted.
 * @throws BenchError `E_CONFIG` for a command that is too long.
 */
export function stepsCommand(
  steps: readonly StepRequest[],
  { pattern, outputFile = `${SCRATCH_DIRECTORY}/step` }: StepsOptions,
): { command: string[]; args: string[] } {
  const texts = steps.map(({ command }) => shellCommand(command));
  const distinct = [...new Set(texts)];
  if (!distinct.every(fitsInArgument)) {
    throw new BenchError('E_CONFIG', "the loader's command takes more than the 128 KiB of an argument", {
      fix: 'Look up fewer names (fewer zones, or fewer services), or measure with --duet off.',
    });
  }
  const groups = [...new Set(steps.map(({ group }) => group))];
  const order = steps.map(
    ({ group }, index) => `${groups.indexOf(group)}:${distinct.indexOf(texts[index] ?? '') + 1}`,
  );
  return {
    command: ['/bin/sh', '-c', SCRIPT, 'sh'],
    args: [order.join(' '), pattern, outputFile, ...distinct],
  };
}

/** What is known of a command that was run. */
export interface Step {
  /** UNIX time. Null where `date` does not say. */
  readonly startedAtSeconds: number | null;
  /** What it printed, and after it the shell's times. */
  readonly lines: readonly string[];
  /** Null if the shell does not say. */
  readonly cpuSeconds: number | null;
  /** Null if it did not end. */
  readonly exitCode: number | null;
}

/** The number of the step that begins with a line of the output; null for any other line. */
export function stepOfLine(line: string): number | null {
  const [, index] = STEP.exec(line) ?? [];
  return index === undefined ? null : Number(index);
}

/** The steps in the output of `stepsCommand`, by their numbers. */
export function parseSteps(lines: readonly string[]): Map<number, Step> {
  const starts = lines.flatMap((line, at) => (STEP.test(line) ? [at] : []));
  const steps = new Map<number, Step>();
  let usedBefore: number | null = 0;
  for (const [place, start] of starts.entries()) {
    const [, index = '', time = ''] = STEP.exec(lines[start] ?? '') ?? [];
    const own = lines.slice(start + 1, starts[place + 1]);
    const startedAt = Number.parseFloat(time);
    const used = parseTimes(own);
    const status = own.findLast((line) => line.startsWith(STATUS));
    steps.set(Number(index), {
      startedAtSeconds: Number.isFinite(startedAt) ? startedAt : null,
      lines: own.filter((line) => line !== status),
      cpuSeconds: used === null || usedBefore === null ? null : Math.max(0, used - usedBefore),
      exitCode: status === undefined ? null : Number(status.slice(STATUS.length)),
    });
    usedBefore = used;
  }
  return steps;
}
