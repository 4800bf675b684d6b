/** A question, and the answer that a correct server gives. */

export type QuestionType = 'A' | 'AAAA' | 'SRV' | 'PTR';

export interface AnswerRecord {
  readonly type: QuestionType;
  /** Presentation format, names without a trailing dot: `10.96.1.0`, `0 100 80 web-00000.team-000.svc.cluster.local`. */
  readonly data: string;
}

export interface Expected {
  readonly rcode: 'NOERROR' | 'NXDOMAIN';
  /** In any order, since `loadbalance` shuffles; none for a name without records of the type. */
  readonly answers: readonly AnswerRecord[];
}

export interface Question {
  /** Without a trailing dot. */
  readonly name: string;
  readonly type: QuestionType;
  readonly expected: Expected;
}

export const NO_SUCH_NAME: Expected = { rcode: 'NXDOMAIN', answers: [] };

export const isIpv6 = (address: string): boolean => address.includes(':');

export function addressesAs(type: 'A' | 'AAAA', addresses: readonly string[]): Expected {
  const fitting = addresses.filter((address) => isIpv6(address) === (type === 'AAAA'));
  return { rcode: 'NOERROR', answers: fitting.map((data) => ({ type, data })) };
}
