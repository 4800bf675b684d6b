/** A short measurement of a server on loopback. */
import { type CannonInput, type CannonResult, cannon } from '../../src/index.ts';

/** The length of each measurement. */
export const SECONDS = 1;

export async function measure(port: number, options: Partial<CannonInput>): Promise<CannonResult> {
  return cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'zones' },
    durationSeconds: SECONDS,
    ...options,
  }).result;
}
