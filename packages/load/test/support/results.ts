/** Results of runs that did not take place. */
import { type Counts, Measurements } from '../../src/engine/measurements.ts';
import { type CannonInput, type CannonResult, optionsSchema } from '../../src/index.ts';
import { assemble } from '../../src/result/assemble.ts';
import { Tally } from '../../src/result/tally.ts';

/** What one worker that counted this and sent for so long reports. */
export function resultOf(
  input: Partial<CannonInput>,
  counts: Partial<Counts>,
  sendingSeconds = 1,
): CannonResult {
  const measurements = new Measurements();
  Object.assign(measurements.counts, counts);
  const tally = new Tally(1, () => undefined);
  const sendingNs = sendingSeconds * 1e9;
  const summary = { sendingNs, lastAnswerNs: sendingNs, exhausted: false, use: null, sockets: null };
  tally.done(0, summary, sendingNs, measurements.take());
  return assemble(tally, {
    version: '0.0.0',
    startedAt: new Date(0),
    options: optionsSchema.parse({ server: '192.0.2.1', workload: { kind: 'zones' }, ...input }),
    server: { host: '192.0.2.1', address: '192.0.2.1', port: 53 },
    workload: 'example{X}.com',
    transport: [],
    endedBy: 'duration',
    stealSeconds: null,
    diagnosis: [],
  });
}
