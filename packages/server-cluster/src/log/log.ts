/**
 * Structured logs: one JSON object per line on standard error (pino). Only rare events are logged: start, stop,
 * reload, workers that end, errors of sockets and handlers. Queries are not.
 */
import { destination, pino } from 'pino';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const DEFAULT_LOG_LEVEL: LogLevel = 'warn';

/** What this package needs of a logger. Pino's loggers have it. */
export interface Log {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** A logger on standard error. Writes are synchronous so that the last messages of a process are not lost. */
export function createLog(level: LogLevel = DEFAULT_LOG_LEVEL): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  return pino(
    { ...options, formatters: { level: (label) => ({ level: label }) } },
    destination({ fd: 2, sync: true }),
  );
}

let shared: Log | undefined;

/** The logger for callers that supply none: warnings and errors. */
export function defaultLog(): Log {
  shared ??= createLog();
  return shared;
}
