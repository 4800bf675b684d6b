/** The loop: pick an input, change it, run it, keep it if it reached something new. */
import { pick, type Random, randomFrom } from '@dinodns-bench/test-support/random';
import { type Comparison, Coverage, comparisonsOf } from './coverage.ts';
import { mutate } from './mutate.ts';
import type { Target } from './target.ts';

/** A different error of the target. */
export interface Finding {
  /** The shortest input found that causes it. */
  readonly input: Buffer;
  readonly error: unknown;
}

export interface CampaignOptions {
  /** The same seed, target and corpus give the same campaign. */
  readonly seed: number;
  /** Inputs from earlier campaigns, in addition to the target's seeds. */
  readonly corpus?: readonly Buffer[];
  /** Before each execution, so that an input that never returns is known. */
  readonly onInput?: (input: Buffer) => void;
  /** For each input that reached something new. */
  readonly onKept?: (input: Buffer) => void;
  readonly onFinding?: (finding: Finding) => void;
}

/** Executions of changes of one input before another is picked. */
const ROUND = 64;
/** Executions that try to shorten a finding. */
const SHRINK_EXECUTIONS = 2000;
/** Different errors after which a campaign ends: more say nothing new. */
const MAX_FINDINGS = 20;
/** Frames of a stack that say where an error comes from. */
const STACK_FRAMES = 30;
/** Chance of picking one of the newest inputs, 1 in this many. */
const NEWEST = 2;
const NEWEST_INPUTS = 16;

/** What makes errors the same: their kind and where they were thrown. */
function signatureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [place = ''] = error.stack?.split('\n').filter((line) => /^\s+at .*\.ts:\d/.test(line)) ?? [];
  const kind = error.name === 'BrokenPromise' ? error.message.replace(/[\d"'].*/s, '') : error.name;
  return `${kind} ${place.trim()}`;
}

interface Kept {
  readonly input: Buffer;
  comparisons: readonly Comparison[] | undefined;
}

export class Campaign {
  executions = 0;
  readonly findings: Finding[] = [];
  readonly coverage = new Coverage();
  readonly #target: Target;
  readonly #random: Random;
  readonly #options: CampaignOptions;
  readonly #dictionary: readonly Buffer[];
  readonly #kept: Kept[] = [];
  readonly #inputs: Buffer[] = [];
  readonly #signatures = new Set<string>();

  constructor(target: Target, options: CampaignOptions) {
    this.#target = target;
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#dictionary = target.dictionary.map((word) => Buffer.from(word, 'latin1'));
  }

  /** Number of inputs that each reached something new. */
  get corpusSize(): number {
    return this.#kept.length;
  }

  /** Runs the seeds and the corpus. Call it once, first. */
  async begin(): Promise<void> {
    const given = [...this.#target.seeds(), ...(this.#options.corpus ?? [])];
    for (const input of given) await this.#try(input.subarray(0, this.#target.maxBytes));
    if (this.#kept.length > 0) return;
    // All seeds fail, or nothing is instrumented: the seeds are still what there is to change.
    for (const input of given) this.#keep(input);
  }

  /** Runs changes of one input; false when there is nothing more to learn. */
  async round(): Promise<boolean> {
    const kept = this.#pick();
    kept.comparisons ??= await this.#comparisonsOf(kept.input);
    const material = { dictionary: this.#dictionary, corpus: this.#inputs, comparisons: kept.comparisons };
    for (let count = 0; count < ROUND; count++)
      await this.#try(mutate(kept.input, this.#random, material, this.#target.maxBytes));
    return this.findings.length < MAX_FINDINGS;
  }

  #pick(): Kept {
    const newest = this.#random(NEWEST) === 0 ? this.#kept.slice(-NEWEST_INPUTS) : this.#kept;
    return pick(this.#random, newest);
  }

  #keep(input: Buffer): void {
    this.#kept.push({ input, comparisons: undefined });
    this.#inputs.push(input);
  }

  /** The error of an input, if it fails, with as many frames of its stack: they cost more than all else. */
  async #run(input: Buffer, frames = 0): Promise<{ readonly error: unknown } | undefined> {
    this.executions++;
    this.#options.onInput?.(input);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = frames;
    try {
      // A copy: the input must stay as it is, whatever the code under test does with its own.
      await this.#target.check(Buffer.from(input));
    } catch (error) {
      return { error };
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    return undefined;
  }

  #comparisonsOf(input: Buffer): Promise<readonly Comparison[]> {
    return comparisonsOf(() => this.#run(input));
  }

  async #try(input: Buffer): Promise<void> {
    this.coverage.reset();
    const failure = await this.#run(input);
    if (failure !== undefined) {
      await this.#note(input, (await this.#run(input, STACK_FRAMES))?.error ?? failure.error);
    } else if (this.coverage.add() > 0) {
      this.#keep(input);
      this.#options.onKept?.(input);
    }
  }

  async #note(input: Buffer, error: unknown): Promise<void> {
    const signature = signatureOf(error);
    if (this.#signatures.has(signature)) return;
    this.#signatures.add(signature);
    const finding = await this.#shrunk({ input, error }, signature);
    this.findings.push(finding);
    this.#options.onFinding?.(finding);
  }

  /** Removes as much of the input as still causes the same error. */
  async #shrunk(finding: Finding, signature: string): Promise<Finding> {
    let best = finding;
    let left = SHRINK_EXECUTIONS;
    for (let size = best.input.length >> 1; size > 0; size >>= 1) {
      for (let at = 0; at < best.input.length && left > 0; left--) {
        const input = Buffer.concat([best.input.subarray(0, at), best.input.subarray(at + size)]);
        const failure = await this.#run(input, STACK_FRAMES);
        if (failure !== undefined && signatureOf(failure.error) === signature)
          best = { input, error: failure.error };
        else at += size;
      }
    }
    return best;
  }
}
