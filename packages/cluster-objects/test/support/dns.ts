/** Asks a DNS server and compares with what is expected. */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import * as dnsPacket from 'dns-packet';
import type { Expected, Question } from '../../src/index.ts';

/** For answers that must come: a busy machine takes its time. */
const TIMEOUT_MILLISECONDS = 15_000;

/** Reads text of dns-packet's records as the questions of this package have it. */
function dataOf(record: dnsPacket.Answer): string {
  if (!('data' in record)) return '';
  const { data } = record;
  if (record.type === 'SRV') {
    const { priority = 0, weight = 0, port, target } = record.data;
    return `${priority} ${weight} ${port} ${target}`;
  }
  return String(data);
}

function askUdp(port: number, packet: Buffer, timeout: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const timer = setTimeout(() => {
      socket.close();
      reject(new Error(`no answer from UDP port ${port}`));
    }, timeout);
    socket.on('message', (message) => {
      clearTimeout(timer);
      socket.close();
      resolve(message);
    });
    socket.send(packet, port, '127.0.0.1');
  });
}

export function askTcp(port: number, packet: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(packet.length);
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.concat([length, packet])));
    let received: Uint8Array = Buffer.alloc(0);
    socket.setTimeout(TIMEOUT_MILLISECONDS, () =>
      socket.destroy(new Error(`no answer from TCP port ${port}`)),
    );
    socket.on('error', reject);
    socket.on('data', (data) => {
      const whole = Buffer.concat([received, data]);
      received = whole;
      if (whole.length < 2 || whole.length < 2 + whole.readUInt16BE()) return;
      socket.destroy();
      resolve(whole.subarray(2));
    });
  });
}

const OPT: dnsPacket.OptAnswer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

export function encodeQuestion(name: string, type: string, withEdns = true): Buffer {
  return dnsPacket.encode({
    type: 'query',
    id: 4711,
    flags: dnsPacket.RECURSION_DESIRED,
    questions: [{ name, type: type as dnsPacket.RecordType, class: 'IN' }],
    additionals: withEdns ? [OPT] : [],
  });
}

/** The answer in the form of expectations, its records sorted; over TCP if it was truncated. */
export async function ask(
  port: number,
  { name, type }: Pick<Question, 'name' | 'type'>,
  timeout = TIMEOUT_MILLISECONDS,
): Promise<Expected> {
  const packet = encodeQuestion(name, type);
  let message = dnsPacket.decode(await askUdp(port, packet, timeout));
  if (message.flag_tc) message = dnsPacket.decode(await askTcp(port, packet));
  if (message.id !== 4711) throw new Error(`an answer with the id ${message.id}`);
  const rcode = 'rcode' in message ? String(message.rcode) : '';
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') throw new Error(`${name} ${type}: ${rcode}`);
  const answers = (message.answers ?? []).map((record) => ({
    type: record.type as 'A',
    data: dataOf(record),
  }));
  return { rcode, answers: sorted(answers) };
}

const sorted = (answers: Expected['answers']) => answers.toSorted((a, b) => (a.data < b.data ? -1 : 1));

export interface Difference {
  readonly question: string;
  readonly expected: Expected;
  readonly actual: Expected;
}

/** The questions whose answers are not as expected; a few at a time are asked at once. */
export async function differences(port: number, questions: readonly Question[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const rest = questions.values();
  const asker = async () => {
    for (const question of rest) {
      const actual = await ask(port, question);
      const expected = { ...question.expected, answers: sorted(question.expected.answers) };
      if (JSON.stringify(actual) === JSON.stringify(expected)) continue;
      found.push({ question: `${question.name} ${question.type}`, expected, actual });
    }
  };
  await Promise.all(Array.from({ length: 8 }, asker));
  return found;
}
