/**
 * The valid-zone part of the Ferret/SCALE dataset: small zones, questions about them, and what BIND, NSD, Knot DNS
 * and PowerDNS answered. An answer is right if it is one of theirs.
 */
import { ZoneStore } from '../../src/store/zone-store.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { readRecords } from '../../src/wire/rdata.ts';
import { answerTo, query } from '../table/ask.ts';
import { chainReply } from '../table/chain.ts';
import { recordOf, textOf } from './record-line.ts';

/** One of the answers that the servers gave. Records are lines of a zone file with absolute names. */
export interface ServerAnswer {
  readonly servers: readonly string[];
  readonly rcode: string;
  /** For example `QR AA`. */
  readonly flags: string;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

export interface FerretZone {
  readonly id: number;
  readonly zone: readonly string[];
  readonly tests: readonly {
    readonly name: string;
    readonly type: string;
    /** One entry for each group of servers that agree. */
    readonly expected: readonly ServerAnswer[];
  }[];
}

/** The answer of the server under test, in the same form. */
type GivenAnswer = Omit<ServerAnswer, 'servers'>;

/** A question that was not answered as any of the four servers did. */
export interface Fault {
  readonly zone: readonly string[];
  readonly question: string;
  readonly given: GivenAnswer | string;
  readonly expected: readonly ServerAnswer[];
}

export interface Score {
  /** Questions with an answer that is right in all sections. */
  right: number;
  /** Questions answered as this server does, by its name. */
  readonly agreement: Map<string, number>;
  /** Right except for the additional section. */
  readonly additional: Fault[];
  readonly wrong: Fault[];
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED', 'YXDOMAIN'];

export function parseFerret(text: string): FerretZone[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): FerretZone => JSON.parse(line));
}

/** Loads each zone alone, and asks the answer table and the framework's chain its questions. */
export function scoreOf(zones: readonly FerretZone[]): Score {
  const score: Score = { right: 0, agreement: new Map(), additional: [], wrong: [] };
  for (const { zone, tests } of zones) {
    const store = new ZoneStore();
    store.addZone({ name: '.', records: zone.map(recordOf) });
    for (const { name, type, expected } of tests) {
      const fault = { zone, question: `${name} ${type}`, expected };
      const given = ask(store, name, type);
      const matching = typeof given === 'string' ? [] : expected.filter((each) => matches(given, each));
      for (const server of matching.flatMap(({ servers }) => servers)) {
        score.agreement.set(server, (score.agreement.get(server) ?? 0) + 1);
      }
      if (typeof given === 'string' || matching.length === 0) score.wrong.push({ ...fault, given });
      else if (!matching.some(({ additional }) => isSame(given.additional, additional))) {
        score.additional.push({ ...fault, given });
      } else score.right++;
    }
  }
  return score;
}

/** What the table says; or, in words, that the framework's chain says something else. */
function ask(store: ZoneStore, name: string, type: string): GivenAnswer | string {
  // RD was not set when the servers were asked.
  const message = query(name, type, { flags: 0 });
  const reply = answerTo(createAnswerTable(store), message, 'stream');
  if (typeof reply === 'number') return `the table answers ${reply}`;
  const chain = chainReply(store.handler, (response) => response.errors.refused(), message, 'stream');
  if (typeof chain === 'number' || !chain.equals(reply)) return 'table and framework differ';
  return given(reply, message.length);
}

function given(reply: Buffer, questionEnd: number): GivenAnswer {
  const flags = reply.readUInt16BE(2);
  const answers = readRecords(reply, questionEnd, reply.readUInt16BE(6));
  const authorities = readRecords(reply, answers.end, reply.readUInt16BE(8));
  const additionals = readRecords(reply, authorities.end, reply.readUInt16BE(10));
  return {
    rcode: RCODES[flags & 0xf] ?? String(flags & 0xf),
    flags: ['QR', (flags & 0x0400) === 0 ? '' : 'AA', (flags & 0x0200) === 0 ? '' : 'TC'].join(' ').trim(),
    answer: answers.records.map(textOf),
    authority: authorities.records.map(textOf),
    additional: additionals.records.map(textOf),
  };
}

/** The rule of the dataset's README: code, flags and answer section; without an answer, the authority section too. */
function matches(given: GivenAnswer, expected: ServerAnswer): boolean {
  return (
    given.rcode === expected.rcode &&
    given.flags === expected.flags &&
    isSame(given.answer, expected.answer) &&
    (given.answer.length > 0 || isSame(given.authority, expected.authority))
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  const keys = (lines: readonly string[]) => [...new Set(lines.map(recordKey))].sort().join('\n');
  return keys(one) === keys(other);
}

/** Without the TTL, which is not compared, and in lower case. */
function recordKey(line: string): string {
  const [name, , ...others] = line.split(' ');
  return [name, ...others].join(' ').toLowerCase();
}
