/**
 * What an experiment declares. The engine does the rest: flags, plan, order, resuming, saving, Ctrl-C, statistics, reports,
 * history. See README.md.
 */
import type { z } from 'zod';
import type { Setting, SettingsOf, SettingTable } from '../config/setting.ts';
import type { Publication } from '../history/reproduce/publication.ts';
import type { InterruptionWords } from '../interruption.ts';
import type { Display } from '../progress/display.ts';
import type { Format } from '../report/renderer.ts';
import type { Environment, ProvisionedTool, ServerRecord } from '../results/record.ts';
import type { World } from '../world.ts';
import type { DocumentParts } from './document.ts';
import type { Estimand } from './estimand.ts';
import type { EngineRecord } from './record.ts';
import type { GivenSettings } from './settings.ts';

/** One combination of what is varied besides the subject, by name: `{ tier: 1, mode: 'single' }`. */
export type Point = Readonly<Record<string, string | number>>;

/** What is compared: a server, a version, a policy. */
export interface Subject {
  readonly name: string;
  /** For people. */
  readonly title: string;
}

/** A subject at a point. Subjects at the same point are compared with each other. */
export interface PlannedCase {
  /** Unique in the run, and the same in each plan of the same settings: a run resumes by it. */
  readonly key: string;
  /** Name of its subject. */
  readonly subject: string;
  readonly point: Point;
  /** How long a trial of it takes, preparation included; only for showing the time left. */
  readonly expectedSeconds: number;
  /** What a plan says of it beside the title of its subject. Default: nothing. */
  readonly details?: string;
  /** The baseline's twin of `--aa`, where the plan has it. Default: the engine adds one for each case of the baseline. */
  readonly aa?: boolean;
}

/** How the command was called. */
export interface RunOptions extends GivenSettings {
  /** `--resume`: a run's id, or latest. */
  readonly resume: string | undefined;
  /** See `Call.runPath`. */
  readonly runPath: (out: string, reference: string, experiment?: string) => Promise<string>;
  readonly dryRun: boolean;
  /** The text report that is printed at the end: `terminal`. */
  readonly format: string;
  readonly argv: readonly string[];
}

/** What is to be measured, from the settings. */
export interface ExperimentPlan<Decided> {
  readonly subjects: readonly Subject[];
  /** Name of the subject that others are compared with; null to compare nothing. */
  readonly baseline: string | null;
  readonly cases: readonly PlannedCase[];
  /** What deciding came to besides, for `open`: loaded servers, workloads. */
  readonly decided: Decided;
  /** The order of the cases of a point in a round, where the subjects dictate one. Default: `balancedOrder`. Pure. */
  order?<T extends PlannedCase>(cases: readonly T[], round: number): readonly T[];
  /** How many rounds, where another setting than `--trials` says so. */
  readonly rounds?: number;
  /** Said by a dry run before the cases: what was found, what would be changed. */
  readonly summary?: string;
  /** All that a dry run prints, in a format such as `terminal` or `json`. Default: the cases, and how long they take. */
  show?(format: string): string;
  /** What Ctrl-C does, for people. Default: it stops servers. */
  readonly interruption?: InterruptionWords;
  /** Whether the trials of a point in a round are taken together, by `together`. Default: false. */
  readonly isTogether?: boolean;
  /** How many trials may be under way at once. Default: 1, since most figures suffer from neighbours. */
  readonly lanes?: number;
  /** Whether trials of these cases may be under way at once; one alone always may. Default: any. Pure. */
  fits?(together: readonly PlannedCase[]): boolean;
}

/** A trial that the engine asks for. */
export interface PlannedTrial {
  /** Of the trial: that of its case, and its round. */
  readonly key: string;
  readonly case: PlannedCase;
  /** From 0. Trials of the same round and point are pairs. */
  readonly round: number;
  /** In the run, from 0. */
  readonly order: number;
}

/** What a trial tells while it lasts. */
export interface TrialEvents {
  /** What is done just now: `searching for the highest rate`. */
  phase(text: string): void;
  /** A part of a long trial has ended, in a line that stays, also in a log: `start 3, 58.0 MiB: survived`. */
  part(text: string): void;
  /** Completed queries per second over the last second. */
  rate(qps: number): void;
  /** The configuration files of a program, for the record; the first ones are kept. */
  files(program: string, files: Readonly<Record<string, string>>): void;
  /** What a reader of the figures must know, for the record; the same is kept once. */
  warning(text: string): void;
  /**
   * What a long trial has found so far, in place of what it said before. It is in the record until the trial ends, and `kept` if the
   * run is interrupted, or killed, and resumed. Resolves when it is saved.
   */
  keep(found: unknown): Promise<void>;
  /** What `keep` got when the trial was interrupted; undefined at its first beginning. Of the record: to be read by a schema. */
  readonly kept: unknown;
  /** CPUs that the hypervisor and other programs took while the trial measured: comparisons by ratio allow for it. */
  taken(cores: number): void;
}

export interface OpenRequest<Settings, Decided> {
  readonly world: World;
  readonly settings: Settings;
  readonly decided: Decided;
  readonly runId: string;
  /** Whether the run goes on: what was chosen at its first start is in its settings. */
  readonly isResumed: boolean;
  /** Absolute path of the run's folder, which exists. */
  readonly directory: string;
  readonly display: Display;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** Aborted by the second Ctrl-C: stop waiting. */
  readonly force: AbortSignal;
}

/** What all trials share. It is closed when the run ends, however it ends. */
export interface Opened<Context, Settings = never, Decided = never> extends AsyncDisposable {
  readonly context: Context;
  readonly environment: Environment;
  /** What ran, for the record. */
  readonly programs: readonly ServerRecord[];
  readonly provisioned: readonly ProvisionedTool[];
  /** What may explain a difference between two runs, by name: load generator, CPU limits. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** What was decided, where opening found or chose something else: the size of a node, a load generator. */
  readonly revised?: { readonly settings: Settings; readonly plan: ExperimentPlan<Decided> };
  /** Aborted when the trials have lost what they share, such as the Lease of a cluster: the run ends with its reason. */
  readonly lost?: AbortSignal;
  /** In sentences, once it is closed, however that ended: what closing came to, for people and for the record. */
  closing?(): readonly string[];
}

/** Opened, where how a trial is measured depends on what was opened: this machine, a cluster. */
export interface Measuring<Evidence> {
  measure(planned: PlannedTrial, on: TrialEvents): Promise<Evidence>;
}

export type TargetRequest<Settings> = Omit<OpenRequest<Settings, unknown>, 'decided'>;

/** Decided, where each target decides something of its own, which only its opening needs. */
export interface DecidedTarget<Settings, Evidence> {
  open(request: TargetRequest<Settings>): Promise<Opened<Measuring<Evidence>>>;
}

/** A trial may reject with it: the failure is a result like any other, but no trial can be taken after it. */
export class LastTrial extends Error {
  override readonly name = 'LastTrial';
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('no trial can be taken any more', { cause: reason });
    this.reason = reason;
  }
}

/** An invocation of the command, before anything is decided. */
export interface Invocation<Record> {
  readonly world: World;
  readonly options: RunOptions;
  /**
   * A run with these settings instead, which prints nothing. It rejects as a run does. With --dry-run it measures nothing,
   * prints the plan and resolves with null.
   */
  run(given: GivenSettings): Promise<Record | null>;
}

/** How a command shows its settings, and from what it starts. */
export interface SettingsView {
  /** Settings below headings of the help; rare ones are behind `--help-all`. Default: one list of all. */
  readonly groups?: Readonly<Record<string, SettingTable>>;
  /** What `--help` shows of the groups; every setting is taken. Default: those that are not rare. */
  readonly shown?: readonly string[];
  /** Names of `PRESETS` that `--preset` takes. Default: there is no such flag. */
  readonly presets?: readonly string[];
  /** Defaults of the command that differ from those of the settings. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** A default as people write it, where it depends on more than its setting and there is no `base`. Default: `shownValue`. */
  shownDefault?(name: string, setting: Setting): string | undefined;
}

/** A command that makes runs of an experiment. */
export interface CommandView extends SettingsView {
  /** The words after `bench`. */
  readonly command: string;
  /** True for what `bench` does without a command. */
  readonly isDefault?: true;
  /** Below the flags of its help. */
  readonly examples?: string;
}

/** What is done in an experiment. */
export interface Procedure<Table extends SettingTable, Decided, Context, Evidence, Record> {
  /** In records, and of the command unless that has another: one word in lower case. */
  readonly name: string;
  /** The words of the command, where it is not the name: `capacity memory` for the name `capacity-memory`. */
  readonly command?: string;
  /** How its commands look, where they are several or have more than a list of flags. Default: one, of the name above. */
  readonly commands?: readonly CommandView[];
  /** Its own settings and those it shares with others (`pick`); the engine adds `ENGINE_SETTINGS`. */
  readonly settings: Table;
  /**
   * Settings and plan of a new run, where defaults depend on more than the settings. Paths are as `withRelativePaths` has
   * them. Default: `decideSettings`, and `plan`.
   */
  settle?(
    world: World,
    given: GivenSettings,
  ): Promise<{ readonly settings: SettingsOf<Table>; readonly plan: ExperimentPlan<Decided> }>;
  /** Decides everything that can be decided without touching the machine. Throws a BenchError for what cannot be done. */
  plan(settings: SettingsOf<Table>, world: World): Promise<ExperimentPlan<Decided>>;
  open(
    request: OpenRequest<SettingsOf<Table>, Decided>,
  ): Promise<Opened<Context, SettingsOf<Table>, Decided>>;
  /**
   * One trial. Rejecting makes it a failed trial, which is a result with a reason; it must stop everything that it
   * started either way.
   */
  trial(context: Context, planned: PlannedTrial, on: TrialEvents): Promise<Evidence>;
  /** The trials of a point in a round at once, in their order; only where the plan says so. */
  together?(
    context: Context,
    planned: readonly PlannedTrial[],
    on: (planned: PlannedTrial) => TrialEvents,
  ): Promise<readonly Evidence[]>;
  /** Takes an invocation over that is several runs, such as a file of tests, and resolves with the exit status; null for one run. */
  invoke?(invocation: Invocation<Record>): Promise<number | null>;
}

/** An experiment whose record is the engine's, with what is made of it. */
export interface ExperimentDefinition<
  Table extends SettingTable,
  Decided,
  Context,
  Evidence extends z.ZodType,
> extends Procedure<
    Table,
    Decided,
    Context,
    z.output<Evidence>,
    EngineRecord<z.output<Evidence>, SettingsOf<Table>>
  > {
  /** The question that it answers. */
  readonly question: string;
  /** What the command measures, in a line of `bench --help`. Default: the question. */
  readonly description?: string;
  /** What a trial leaves in the record besides figures. Base units, nothing rounded. */
  readonly evidence: Evidence;
  /** The figures of a trial, and how subjects are compared by them. Pure. */
  estimands(settings: SettingsOf<Table>): readonly Estimand<z.output<Evidence>>[];
  /** What only this experiment can say of a record. Pure. */
  document(record: EngineRecord<z.output<Evidence>, SettingsOf<Table>>): DocumentParts;
  /** Published results that stand beside its runs: `bench reproduce NAME`. Default: none. */
  readonly publications?: readonly Publication[];
  /** Besides those of every document. Default: none. */
  readonly formats?: readonly Format<EngineRecord<z.output<Evidence>, SettingsOf<Table>>>[];
}
