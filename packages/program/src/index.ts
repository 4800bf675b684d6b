/** Shared by all command-line programs of this project. */
export * from './errors.ts';
export * from './exit-status.ts';
export * from './launchers.ts';
export * from './nearest.ts';
export * from './output.ts';
export * from './render-error.ts';
export * from './run-program.ts';
export * from './signals.ts';
export * from './version.ts';
