/**
 * An experiment: a folder beside this file with its own procedure, commands and tables, built from the parts of
 * the pipeline, and one line in `registry.ts`.
 */
import type { Command } from 'commander';
import type { Publication } from '../history/reproduce/publication.ts';
import type { World } from '../world.ts';
import type { Records } from './records.ts';

/** Adds commands to the program, each with its flags. */
export type AddCommands = (program: Command, call: Call) => void | Promise<void>;

/** A command as `bench --help` lists it, before anything that it needs is loaded. */
export interface ListedCommand {
  /** Its name, and what may follow: `report [options] <run>`. */
  readonly usage: string;
  readonly description: string;
  load(): Promise<AddCommands>;
}

/** One invocation of bench: the input of its commands, and where they put the exit status. */
export interface Call {
  readonly world: World;
  /** As typed, for the record. */
  readonly argv: readonly string[];
  /** The path of the run that a person named, as `docs/history.md` lists the names; `out` is the directory of the runs. */
  readonly runPath: (out: string, reference: string, experiment?: string) => Promise<string>;
  status: number;
}

export interface Experiment {
  /** As in records: lower case. */
  readonly name: string;
  /** The question that it answers. */
  readonly question: string;
  /** Adds its commands to the program, each with its flags. */
  readonly addCommands: AddCommands;
  /** What it keeps of its runs; several kinds for one that measures several things; null for one that only prints. */
  readonly records: Records | readonly Records[] | null;
  /** Published results that stand beside its runs. Default: none. */
  readonly publications?: readonly Publication[];
}
