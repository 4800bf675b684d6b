/** The exit statuses of all programs of this project, by meaning: the same number never means two things. */

/** In the order of `--help`. 130 and 143 follow the shell's convention of 128 + signal number. */
const EXITS = {
  success: { status: 0, meaning: 'done' },
  internal: { status: 1, meaning: 'a bug in the program' },
  usage: { status: 2, meaning: 'wrong usage: the command line, a setting or an input file is not valid' },
  environment: {
    status: 3,
    meaning: 'the machine or the cluster lacks something: a tool, a permission, a free port, a readable file',
  },
  server: {
    status: 4,
    meaning: 'a server failed: it did not start, cannot be reached, died, or answered wrongly or not at all',
  },
  failedTrials: { status: 5, meaning: 'the run finished, but some of its trials failed' },
  record: { status: 6, meaning: 'the record of a run cannot be read' },
  output: { status: 7, meaning: 'the output cannot be written' },
  undecided: { status: 8, meaning: 'too few trials to tell whether a threshold is missed' },
  threshold: { status: 9, meaning: 'a threshold is missed' },
  interrupted: { status: 130, meaning: 'stopped by Ctrl-C (SIGINT)' },
  terminated: { status: 143, meaning: 'stopped by SIGTERM' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

/** Why a program ends. */
export type ExitReason = keyof typeof EXITS;

export const EXIT_REASONS = Object.keys(EXITS) as readonly ExitReason[];

type ExitStatuses = { readonly [Reason in ExitReason]: (typeof EXITS)[Reason]['status'] };

/** The status of each reason. */
export const EXIT_STATUS = Object.fromEntries(
  EXIT_REASONS.map((reason) => [reason, EXITS[reason].status]),
) as ExitStatuses;

/** What a status means, in one phrase. */
export function meaningOf(reason: ExitReason): string {
  return EXITS[reason].meaning;
}

/** Columns of every help, on a terminal or not: the default width of a terminal. */
export const HELP_COLUMNS = 80;
const INDENT = 7;

function wrapped(text: string): string {
  let line = '';
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT + line.length + 1 + word.length > HELP_COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(INDENT)}`);
}

/**
 * The part of `--help` about exit statuses, at most 80 columns wide: the program's reasons in numerical order. `own`
 * says more precisely what a reason means for this program or command.
 */
export function exitStatusHelp(
  reasons: readonly ExitReason[],
  own: Readonly<Partial<Record<ExitReason, string>>> = {},
): string {
  const lines = EXIT_REASONS.filter((reason) => reasons.includes(reason)).map(
    (reason) =>
      `  ${String(EXITS[reason].status).padEnd(INDENT - 2)}${wrapped(own[reason] ?? meaningOf(reason))}`,
  );
  return `\nExit status:\n${lines.join('\n')}`;
}
