/** From a result to an exit status and, if that is not 0, the reason. Pure. */
import { EXIT_STATUS, exitStatusOf, isExplained, renderError } from '@dinodns-bench/program';
import { type LoadError, loadError } from '../errors.ts';
import { duration, percent, whole } from '../report/numbers.ts';
import type { CannonResult } from '../result/result.ts';
import type { Crossed } from '../thresholds/thresholds.ts';

export interface Judgement {
  readonly status: number;
  readonly message: string | null;
}

/** A stop is reported before silence, silence before thresholds, and those before wrong answers: each explains the next. */
export function judge(result: CannonResult, crossed: readonly Crossed[], signal: AbortSignal): Judgement {
  const { reason } = signal;
  if (signal.aborted && isExplained(reason)) {
    return {
      status: exitStatusOf(reason),
      message: `${reason.message}: this is the result so far`,
    };
  }
  if (result.counts.answered === 0 && result.counts.sent > 0) {
    return failed(loadError('E_NO_ANSWER', ...silence(result)));
  }
  if (crossed.length > 0) return { status: EXIT_STATUS.threshold, message: crossed.map(failure).join('\n') };
  return areAllWrong(result)
    ? failed(everythingWrong(result))
    : { status: EXIT_STATUS.success, message: null };
}

function failed(error: LoadError): Judgement {
  return {
    status: error.exitStatus,
    message: renderError(error, { program: 'dnscannon', colours: false }).trimEnd(),
  };
}

/** Of some wrong answers, `--fail-if 'unexpected>0'` decides. */
function areAllWrong({ counts }: CannonResult): boolean {
  const { answered, wrongCode, wrongAddress, unreadable } = counts;
  return answered > 0 && wrongCode + wrongAddress + unreadable >= answered;
}

function everythingWrong({ counts, server }: CannonResult): LoadError {
  return loadError(
    'E_UNEXPECTED',
    `none of ${whole(counts.answered)} answers of ${server.address} port ${server.port} was as expected`,
    'correct the server or --expect',
  );
}

/** Why there were no answers, and what to do about it. */
function silence({ counts, server, options }: CannonResult): [problem: string, fix: string] {
  const where = `${server.address} port ${server.port} (${options.transport})`;
  if (counts.refused > 0) {
    return [`${where} refuses: nothing listens there`, `start the server, or correct address and port`];
  }
  if (counts.reset > 0 || counts.closed > 0) {
    return [
      `${where} closes the connection without an answer`,
      `check that a DNS server listens there, and its limits for connections`,
    ];
  }
  if (counts.malformed > 0 || counts.mismatched > 0) {
    return [
      `${where} sends messages that do not answer the queries`,
      `check that a DNS server listens there`,
    ];
  }
  return [
    `none of ${whole(counts.sent)} queries to ${where} was answered`,
    `check address, port, transport and firewall; the timeout (-t) is ${duration(options.timeoutSeconds)}`,
  ];
}

function failure({ text, measured }: Crossed): string {
  const time = /[num\u00b5]?s\s*$/i.test(text) && !text.includes('%');
  const shown = !Number.isFinite(measured)
    ? 'nothing was answered'
    : time
      ? `it was ${duration(measured)}`
      : text.includes('%')
        ? `it was ${percent(measured)}`
        : `it was ${whole(measured)}`;
  return `failed: ${text} (${shown})`;
}
