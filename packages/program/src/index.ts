/** Shared by all command-line programs of this project. */
export {
  type ErrorDetails,
  type Explained,
  errorClass,
  exitStatusOf,
  isExplained,
  messageOf,
  type Problem,
  ProgramError,
  systemErrorCode,
  whyUnreadable,
} from './errors.ts';
export {
  EXIT_REASONS,
  EXIT_STATUS,
  type ExitReason,
  exitStatusHelp,
  HELP_COLUMNS,
  meaningOf,
} from './exit-status.ts';
export { onLauncherDeath } from './launchers.ts';
export { nearest, suggestion } from './nearest.ts';
export { type Output, OutputClosed, outputError, say, terminalOf, writeOut } from './output.ts';
export { painter, printable, type RenderErrorOptions, renderError } from './render-error.ts';
export {
  type CommandSet,
  given,
  isHelp,
  isHelpInstead,
  type ProgramStreams,
  type ProgramWorld,
  parseCommands,
  reportError,
  runCommands,
  usageError,
} from './run-program.ts';
export { abortOnSignals, type SignalledProcess } from './signals.ts';
export { versionIn } from './version.ts';
