/**
 * Structured logs: one JSON object per line on standard error. Only rare events are logged: start, stop, reload, workers
 * that end, errors of sockets and handlers. Queries are not.
 */
import { writeSync } from 'node:fs';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const DEFAULT_LOG_LEVEL: LogLevel = 'warn';

/** What this package needs of a logger. Pino's loggers have it. */
export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (fields: object, message: string) => void>>;

/** A logger on standard error. Writes are synchronous so that the last messages of a process are not lost. */
export function createLog(least: LogLevel = DEFAULT_LOG_LEVEL): Log {
  const at = (level: LogLevel) => (fields: object, message: string) => {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(least)) return;
    const head = { level, time: new Date().toISOString(), pid: process.pid };
    let rest = Buffer.from(`${JSON.stringify({ ...head, ...fields, msg: message })}\n`);
    try {
      // A pipe that is nearly full takes a part.
      while (rest.length > 0) rest = rest.subarray(writeSync(2, rest));
    } catch {
      // Nobody reads it any more, or too slowly: the server goes on.
    }
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

let shared: Log | undefined;

/** The logger for callers that supply none: warnings and errors. */
export function defaultLog(): Log {
  shared ??= createLog();
  return shared;
}
