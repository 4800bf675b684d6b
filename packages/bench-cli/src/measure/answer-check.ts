/**
 * Sends every distinct query of the workload once before a trial counts, and compares the answers with the zone
 * set: a server that answers wrongly is not worth measuring.
 */
import { messageOf } from '@dinodns-bench/program';
import type { ZoneSet } from '@dinodns-bench/zones';
import type { Answer } from 'dns-packet';
import type { DecodedAnswer, DnsClient, DnsQuery } from '../dns/client.ts';
import { BenchError } from '../errors.ts';
import type { Server } from '../servers/server.ts';
import { type BenchWorkload, type Expectation, expectedAnswer } from '../workload/workload.ts';

/** Queries in flight while checking; they fit any socket buffer (see `DEFAULTS.outstanding`). */
const CONCURRENCY = 64;
/** A busy machine may need a moment; a healthy server answers in well under a millisecond. */
const TIMEOUT_SECONDS = 2;
/** One lost datagram is nobody's fault; three in a row on loopback are not chance. */
const ATTEMPTS = 3;

/** Names compare without case and without the trailing dot (RFC 4343); text comes as buffers or strings. */
function canonical(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\.$/, '').toLowerCase();
  if (Buffer.isBuffer(value)) return value.toString('latin1').toLowerCase();
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => [key, canonical(item)]),
    );
  }
  return value;
}

function describeRecords(records: Iterable<{ type: string; data?: unknown }>): string[] {
  return [...records].map(({ type, data }) => `${type} ${JSON.stringify(canonical(data))}`).sort();
}

function describeExpectation({ code, records, orCode }: Expectation): string {
  const or = orCode === undefined ? '' : `, or ${orCode}`;
  if (records === null) return `${code ?? 'any answer'}${or}`;
  const data =
    records.length === 0 ? 'with no answer records' : `with ${describeRecords(records).join(', ')}`;
  return `${code} ${data}${or}`;
}

function describeAnswer(answer: DecodedAnswer): string {
  const records = describeRecords(answer.answers);
  const code = answer.responseCode;
  return records.length === 0 ? `${code} with no answer records` : `${code} with ${records.join(', ')}`;
}

/** Null if `answer` is correct, else what came instead. Code, records and the echoed question must match. */
export function judgeAnswer(expectation: Expectation, answer: DecodedAnswer): string | null {
  const { question } = answer;
  if (question === null) return 'a response without a question';
  if (!answer.questionEchoed) return `a response to the question "${question.name} ${question.type}"`;
  if (answer.responseCode === expectation.orCode && answer.answers.length === 0) return null;
  if (expectation.code === null) return null;
  if (expectation.records === null)
    return answer.responseCode === expectation.code ? null : describeAnswer(answer);
  const expected = describeRecords(expectation.records);
  const actual = describeRecords(answer.answers);
  const sameRecords =
    expected.length === actual.length && expected.every((record, i) => record === actual[i]);
  return answer.responseCode === expectation.code && sameRecords ? null : describeAnswer(answer);
}

/** Types that the RRSIG records among these cover. */
function coveredTypes(records: readonly Answer[]): Set<string> {
  return new Set(records.flatMap((record) => (record.type === 'RRSIG' ? [record.data.typeCovered] : [])));
}

/**
 * As `judgeAnswer`, for a query with the DO bit about a signed zone: every RRset of the answer has its signature, and
 * an answer without records a signed proof (RFC 4035, section 3.1). Whether signatures are valid is not checked: the tools
 * that made them have done so.
 */
export function judgeSignedAnswer(expectation: Expectation, answer: DecodedAnswer): string | null {
  const plain = { ...answer, answers: answer.answers.filter(({ type }) => type !== 'RRSIG') };
  const problem = judgeAnswer(expectation, plain);
  if (problem !== null) return problem;
  const covered = coveredTypes(answer.answers);
  const bare = plain.answers.find(({ type }) => !covered.has(type));
  if (bare !== undefined) return `${describeAnswer(plain)}, without a signature of ${bare.type}`;
  if (plain.answers.length > 0) return null;
  const proofs = coveredTypes(answer.authorities);
  return proofs.has('NSEC') || proofs.has('NSEC3')
    ? null
    : `${describeAnswer(plain)}, without a signed NSEC or NSEC3 record`;
}

/** The answer, or why there was none in three attempts. */
export async function askPatiently(
  client: DnsClient,
  query: DnsQuery,
  options: { readonly timeoutSeconds: number; readonly signal: AbortSignal },
): Promise<DecodedAnswer | string> {
  let failure = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await client.ask(query, options);
    } catch (error) {
      options.signal.throwIfAborted();
      failure = messageOf(error);
    }
  }
  return failure;
}

export interface AnswerCheck {
  readonly client: DnsClient;
  readonly server: Server;
  readonly zoneSet: ZoneSet;
  readonly workload: BenchWorkload;
  /** The zones are signed: queries have the DO bit, and answers must have signatures. */
  readonly dnssec: boolean;
  readonly signal: AbortSignal;
}

/**
 * Checks one endpoint and resolves with the number of queries sent.
 * @throws BenchError `E_WRONG_ANSWER` with the query, the expected and the actual answer.
 */
export async function checkAnswers(check: AnswerCheck): Promise<number> {
  const { client, server, zoneSet, workload, dnssec, signal } = check;
  const queries = workload.queries()[Symbol.iterator]();
  let asked = 0;
  const worker = async () => {
    for (let next = queries.next(); !next.done; next = queries.next()) {
      signal.throwIfAborted();
      const query = next.value;
      asked += 1;
      const expectation = expectedAnswer(workload, zoneSet, server, query);
      const answer = await askPatiently(client, dnssec ? { ...query, dnssecOk: true } : query, {
        timeoutSeconds: TIMEOUT_SECONDS,
        signal,
      });
      const isSigned = dnssec && zoneSet.lookup(query.name, query.type).kind !== 'no-such-zone';
      const judge = isSigned ? judgeSignedAnswer : judgeAnswer;
      const problem = typeof answer === 'string' ? `nothing usable: ${answer}` : judge(expectation, answer);
      if (problem !== null) throw wrongAnswer(server, expectation, problem);
      if (typeof answer !== 'string') workload.settle?.(query, answer.responseCode);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return asked;
}

function wrongAnswer(server: Server, expectation: Expectation, problem: string): BenchError {
  const { query } = expectation;
  return new BenchError(
    'E_WRONG_ANSWER',
    `${server.name} gives a wrong answer for ${query.name} ${query.type}`,
    {
      evidence: [
        `query:    ${query.name} ${query.type}`,
        `expected: ${describeExpectation(expectation)}`,
        `received: ${problem}`,
      ],
      fix: 'A server that answers wrongly is not benchmarked. Fix the server, or choose a workload that it can answer. For a server with names of its own: --answers stable --workload FILE.',
    },
  );
}
