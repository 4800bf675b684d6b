/** Host names, as every program of this machine resolves them. */
import { lookup } from 'node:dns/promises';
import { systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';

/**
 * The first address of `host`. `what` asks for it, for the message.
 * @throws BenchError `E_NO_ANSWER` if there is none.
 */
export async function lookupHost(what: string, host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    const reason = systemErrorCode(cause) === 'ENOTFOUND' ? 'it has no address' : 'it cannot be resolved now';
    throw new BenchError('E_NO_ANSWER', `${what}: ${reason}`, {
      fix: `Correct the host name "${host}", or give the address.`,
      cause,
    });
  }
}
