/** Queries of every kind: with and without EDNS, other classes and OPCODEs, truncated, changed, repeated. */

import { mixCase, pick, type Random } from '@dinodns-bench/test-support';
import { encodeName, HEADER_BYTES } from '@dinodns-bench/wire';
import { type Answer, encode } from 'dns-packet';

/** RD, AD and CD are for queries; RA, Z, TC, AA and codes are not. */
const FLAGS = [0, 0, 0, 0x0100, 0x0100, 0x0100, 0x0130, 0x0110, 0x0120, 0x0730, 0x00ff];

function option(random: Random): object {
  return { code: pick(random, [3, 8, 10, 65_001]), data: Buffer.alloc(random(30), random(256)) };
}

/** An OPT record, mostly of version 0. */
function opt(random: Random): Answer {
  const record = {
    name: '.',
    type: 'OPT',
    udpPayloadSize: pick(random, [0, 100, 512, 600, 1232, 4096, 65_535]),
    extendedRcode: random(10) === 0 ? random(256) : 0,
    ednsVersion: random(10) === 0 ? random(256) : 0,
    flags: pick(random, [0, 0x8000, 0xffff]),
    flag_do: false,
    options: Array.from({ length: random(3) }, () => option(random)),
  };
  return record as Answer;
}

/** A well-formed query, perhaps with records that do not belong there. */
export function anyQuery(random: Random, name: string, type: string): Buffer {
  const record: Answer = { name: 'x.example', type: 'A', ttl: 1, data: '192.0.2.1' };
  const plain = encode({
    type: 'query',
    id: random(65_536),
    questions: [{ name: '.', type: type as 'A' }],
    answers: random(20) === 0 ? [record] : [],
    authorities: random(20) === 0 ? [record] : [],
    additionals: [...(random(20) === 0 ? [record] : []), ...(random(2) === 0 ? [opt(random)] : [])],
  });
  // The encoder knows no escapes.
  const bytes = encodeName(mixCase(random, name));
  const message = Buffer.concat([plain.subarray(0, HEADER_BYTES), bytes, plain.subarray(HEADER_BYTES + 1)]);
  const questionEnd = HEADER_BYTES + bytes.length + 4;
  // OPCODE, and the bits that a query may or may not have.
  const operation = random(15) === 0 ? random(16) << 11 : 0;
  message.writeUInt16BE(operation | pick(random, FLAGS), 2);
  if (random(15) === 0) message.writeUInt16BE(pick(random, [3, 4, 254, 255, 4711]), questionEnd - 2);
  if (random(15) === 0)
    message.writeUInt16BE(pick(random, [0, 41, 64, 249, 251, 252, 253, 65_280]), questionEnd - 4);
  return message;
}

/** A query of any kind; four in ten are damaged. */
export function mutated(random: Random, name: string, type: string): Buffer {
  let message: Buffer = anyQuery(random, name, type);
  if (random(10) > 3) return message;
  for (let count = random(3); count >= 0; count--) {
    const at = random(message.length + 1);
    const kind = random(5);
    if (kind === 0) message = Buffer.from(message.subarray(0, at));
    else if (kind === 1) message = Buffer.concat([message, message.subarray(at)]);
    else if (kind === 2) {
      message = Buffer.concat([message.subarray(0, at), Buffer.from([random(256)]), message.subarray(at)]);
    } else if (kind === 3 && at + 2 <= message.length) message.writeUInt16BE(0xc000 | random(64), at);
    else if (at < message.length) message.writeUInt8(random(256), at);
  }
  return message;
}
