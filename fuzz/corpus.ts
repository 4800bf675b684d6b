/** Inputs on disk, each named by its hash. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class Corpus {
  readonly #folder: string;

  /** A folder that may not exist yet. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All inputs, in the order of their names. */
  inputs(): Buffer[] {
    mkdirSync(this.#folder, { recursive: true });
    const names = readdirSync(this.#folder).sort();
    return names.map((name) => readFileSync(join(this.#folder, name)));
  }

  /** Writes an input and returns its path. */
  add(input: Uint8Array): string {
    mkdirSync(this.#folder, { recursive: true });
    const path = join(this.#folder, createHash('sha256').update(input).digest('hex').slice(0, 16));
    writeFileSync(path, input);
    return path;
  }
}
