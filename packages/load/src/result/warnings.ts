/** What a reader must know before believing the numbers. Pure. */
import { many } from '../report/numbers.ts';
import type { CannonResult } from './result.ts';

export function warningsOf({
  counts,
  generator,
  options,
  latencySeconds,
  problems,
}: Omit<CannonResult, 'warnings'>): string[] {
  const warnings: string[] = [];
  const warn = (when: boolean, text: string) => {
    if (when) warnings.push(text);
  };
  warn(generator.wasTheLimit, `The generator was the limit: ${generator.reasons.join('; ')}.`);
  warn(
    counts.echoed > 0,
    `${many(counts.echoed, 'answer')} had no QR bit: the server echoes queries and does not answer them.`,
  );
  warn(
    counts.mismatched > 0,
    `${many(counts.mismatched, 'response')} had an ID or question that was not sent.`,
  );
  warn(counts.malformed > 0, `${many(counts.malformed, 'response')} could not be read as DNS.`);
  for (const [reason, count] of Object.entries(problems))
    warn(true, `${count.toLocaleString('en')} × ${reason}.`);
  warn(counts.cut > 0, `${many(counts.cut, 'answer')} were longer than announced and were truncated.`);
  warn(
    counts.truncated > 0 && !options.tcpFallback && options.transport === 'udp',
    `${many(counts.truncated, 'answer')} were truncated (TC=1) and not retried over TCP (--tcp-fallback).`,
  );
  const wrong = counts.wrongCode + counts.wrongAddress + counts.unreadable;
  warn(wrong > 0, `${many(wrong, 'answer')} were not as expected (--expect).`);
  warn(
    counts.refused > 0,
    `${many(counts.refused, 'refusal')} came from the server's machine: nothing listens on that port, at least some of the time.`,
  );
  warn(counts.sendErrors > 0, `The system refused to send ${many(counts.sendErrors, 'datagram')}.`);
  warn(
    generator.backend === 'dgram',
    `Datagrams were moved one at a time: ${generator.backendReason ?? 'batched system calls are not available'}.`,
  );
  warn(
    latencySeconds !== null && options.transport === 'udp' && !generator.kernelTimestamps,
    'Answers were timestamped when they were read, not when they arrived: latency includes their wait in the socket.',
  );
  return warnings;
}
