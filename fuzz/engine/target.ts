/** What is fuzzed. */
export interface Target {
  /** As on the command line. */
  readonly name: string;
  /** One line for the help. */
  readonly title: string;
  /** Maximum length of inputs. */
  readonly maxBytes: number;
  /** Pieces that mean something in the format; text stands for its Latin-1 bytes. */
  readonly dictionary: readonly string[];
  /** Valid and invalid inputs to start from, at least one. */
  seeds(): Buffer[];
  /** Throws, or rejects, if the code under test breaks a promise for this input. */
  check(input: Buffer): void | Promise<void>;
}

/** Thrown by `check` if a promise is broken; other errors are crashes. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** Throws a `BrokenPromise` unless `promise` holds. */
export function ensure(promise: boolean, message: string | (() => string)): asserts promise {
  if (!promise) throw new BrokenPromise(typeof message === 'string' ? message : message());
}
