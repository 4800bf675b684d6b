/** One sample: a name looked up and a connection made by a fresh process, and how its line is read. */

/** Seconds of the parts of a sample, one after the other; `total` is all of it. */
export interface Phases {
  /** From the start to the address: curl's `time_namelookup`. */
  readonly lookup: number;
  /** From the address to the connection: curl's `time_connect` − `time_namelookup`. */
  readonly connect: number;
  /** From the connection to the first byte of the answer: curl's `time_starttransfer` − `time_connect`. */
  readonly firstByte: number;
  /** curl's `time_total`. */
  readonly total: number;
}

export const PHASES = [
  'lookup',
  'connect',
  'firstByte',
  'total',
] as const satisfies readonly (keyof Phases)[];
export type Phase = (typeof PHASES)[number];

export interface SuccessfulSample {
  readonly outcome: 'ok';
  readonly phases: Phases;
  /** The address that was connected to, as text. */
  readonly address: string;
}

export interface FailedSample {
  readonly outcome: 'failed';
  /** The client's exit status; null if its output could not be read. */
  readonly exitCode: number | null;
}

export type Sample = SuccessfulSample | FailedSample;

/** What curl's `-w` prints between the time and the exit status of a line; the built-in client prints the same. */
export const CURL_FORMAT =
  '%{time_namelookup}|%{time_connect}|%{time_starttransfer}|%{time_total}|%{remote_ip}|%{local_port}|%{http_code}';

/**
 * Line: `sample|uptime in hundredths|lookup|connect|first byte|total|address|port|status|exit status`. Uptime, port and HTTP status
 * are for people who read the raw output: a page of any status was looked up and connected to.
 */
const PREFIX = 'sample|';
const CURL_FIELDS = CURL_FORMAT.split('|').length;

function isTime(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

const UNREADABLE: FailedSample = { outcome: 'failed', exitCode: null };

/** Without the noise of binary fractions: clients print microseconds or nanoseconds. */
function difference(from: number, to: number): number {
  return Number((to - from).toFixed(9));
}

/** The phases, if the times are in the order in which they must be. */
function phasesOf(times: readonly number[]): Phases | null {
  const [lookup = Number.NaN, connected = Number.NaN, firstByte = Number.NaN, total = Number.NaN] = times;
  if (!times.every(isTime) || connected < lookup || firstByte < connected || total < firstByte) return null;
  return {
    lookup,
    connect: difference(lookup, connected),
    firstByte: difference(connected, firstByte),
    total,
  };
}

/**
 * The sample of a line; null for a line that is not a sample's. A sample whose times cannot be read is a failure, even
 * if its exit status is 0.
 */
export function parseSampleLine(line: string): Sample | null {
  if (!line.startsWith(PREFIX)) return null;
  const [, ...rest] = line.slice(PREFIX.length).split('|');
  const exit = rest.pop() ?? '';
  if (!/^\d{1,3}$/.test(exit)) return UNREADABLE;
  const exitCode = Number(exit);
  if (exitCode !== 0) return { outcome: 'failed', exitCode };
  const phases = phasesOf(rest.slice(0, 4).map((text) => (text === '' ? Number.NaN : Number(text))));
  const [address = ''] = rest.slice(4);
  if (phases === null || rest.length !== CURL_FIELDS || address === '') return UNREADABLE;
  return { outcome: 'ok', phases, address };
}

/** What the exit statuses of curl mean (curl(1)), for those that a lookup or a connection can end with. */
const MEANINGS: Readonly<Record<number, string>> = {
  3: 'malformed URL',
  5: 'the proxy could not be resolved',
  6: 'the name could not be resolved',
  7: 'no connection',
  28: 'time limit of 8 s',
  35: 'the TLS handshake failed',
  52: 'the server sent no answer',
  56: 'the connection was broken off',
  60: 'the certificate could not be verified',
  127: 'curl is not there',
};

/** `28 (time limit of 8 s)`; null stands for output that could not be read. */
export function exitText(exitCode: number | null): string {
  if (exitCode === null) return 'unreadable output';
  if (exitCode > 128 && MEANINGS[exitCode] === undefined) return `${exitCode} (signal ${exitCode - 128})`;
  const meaning = MEANINGS[exitCode];
  return meaning === undefined ? String(exitCode) : `${exitCode} (${meaning})`;
}

/** Why this sample did not succeed; undefined for one that was not even taken. */
export function sampleProblem(sample: FailedSample | undefined): string {
  return sample === undefined
    ? 'the sampler ended before its first sample'
    : `exit status ${exitText(sample.exitCode)}`;
}
