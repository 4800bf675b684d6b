/** A real server process is asked what ISC's genreport asks, over every transport and family. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecords } from '../../src/wire/rdata.ts';
import { sendTcp, sendUdp, TRANSPORTS } from '../support/client.ts';
import { killAll, type RunningServer, startServer } from '../support/server-process.ts';
import { type ComplianceReply, faultsOf, messageOf, QUESTIONS } from './compliance-questions.ts';

const ZONE = 'example1.com';
const OPT = 41;

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(['--address', '127.0.0.1', '::1', '--zones', '1']);
});
afterAll(async () => {
  await server?.stop();
  await killAll();
});

/** Reads a reply by itself: header, question as it was asked, records, and OPT at the end. */
function read(reply: Buffer, question: Buffer): ComplianceReply {
  const count = (at: number) => reply.readUInt16BE(at);
  const optBytes = (at: number) => at < reply.length && reply[at] === 0 && reply.readUInt16BE(at + 1) === OPT;
  let questionEnd = 12;
  if (count(4) > 0) {
    questionEnd = question.indexOf(0, 12) + 5;
    expect(reply.subarray(12, questionEnd)).toEqual(question.subarray(12, questionEnd));
  }
  const answers = readRecords(reply, questionEnd, count(6));
  const authorities = readRecords(reply, answers.end, count(8));
  const hasOpt = optBytes(authorities.end);
  const options: number[] = [];
  if (hasOpt) {
    for (let at = authorities.end + 11; at < reply.length; at += 4 + count(at + 2)) options.push(count(at));
  }
  return {
    bytes: reply.length,
    flags: count(2),
    questions: count(4),
    answers: answers.records.map(({ type }) => (type === 'SOA' ? 6 : 0)),
    authorities: authorities.records.length,
    additionals: count(10) - (hasOpt ? 1 : 0),
    opt: hasOpt
      ? {
          code: reply.readUInt8(authorities.end + 5),
          version: reply.readUInt8(authorities.end + 6),
          flags: count(authorities.end + 7),
          options,
        }
      : null,
  };
}

test('there are 34 questions', () => expect(QUESTIONS).toHaveLength(34));

describe.each(TRANSPORTS)('over %s', (transport) => {
  describe.each(['127.0.0.1', '::1'])('to %s', (address) => {
    test.each(QUESTIONS)('$name is ok', async (question) => {
      const endpoint = { address, port: server.ready.port };
      const message = messageOf(question, ZONE);
      const reply = await (transport === 'udp' ? sendUdp(endpoint, message) : sendTcp(endpoint, message));
      if (reply === undefined) throw new Error('timeout');
      expect(reply.subarray(0, 2)).toEqual(message.subarray(0, 2));
      expect(faultsOf(question, read(reply, message), transport)).toEqual([]);
    });
  });
});
