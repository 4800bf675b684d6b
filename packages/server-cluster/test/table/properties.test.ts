/**
 * The answer table replies what a plain model of a server replies, byte for byte what the framework's chain
 * replies, and both stay right after every change.
 */

import { mixCase, pick, type Random, randomFrom } from '@dinodns-bench/test-support';
import { RCODE } from '@dinodns-bench/wire';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';
import type { SupportedRecordType, ZoneData } from 'dinodns/types/dns.js';
import { describe, expect, test } from 'vitest';
import { ZoneStore } from '../../src/store/zone-store.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import type { Responder, Transport } from '../../src/table/responder.ts';
import { answerTo, decoded, normalized, query } from './ask.ts';
import { chainReply } from './chain.ts';
import { Model, type ModelAnswer, type ModelRecord } from './model.ts';
import { mutated } from './mutate.ts';
import { ASKED_TYPES, randomName, randomRecord } from './zones.ts';

const SEEDS = Number(process.env.TABLE_SEEDS ?? 20);
const RECORDS = 70;
const CHANGES = 25;
const QUESTIONS = 25;

type Data = ZoneData[SupportedRecordType];

function put(store: ZoneStore, model: Model, record: ModelRecord): void {
  store.append(record.name, record.type as SupportedRecordType, record.data as Data, record.ttl);
  model.add(record);
}

/** One kind of store change, applied to both. */
function change(random: Random, store: ZoneStore, model: Model): void {
  const record = randomRecord(random);
  const { name, data, ttl } = record;
  const type = record.type as SupportedRecordType;
  switch (random(5)) {
    case 0:
      store.set(mixCase(random, name), type, data as Data, ttl);
      model.records = model.records.filter((other) => other.name !== name || other.type !== type);
      model.add(record);
      break;
    case 1:
      put(store, model, record);
      break;
    case 2: {
      const existing = pick(random, model.records);
      store.delete(
        mixCase(random, existing.name),
        existing.type as SupportedRecordType,
        existing.data as Data,
      );
      model.records = model.records.filter((other) => other !== existing);
      break;
    }
    case 3: {
      const existing = pick(random, model.records);
      store.delete(existing.name, existing.type as SupportedRecordType);
      model.records = model.records.filter(
        (other) => other.name !== existing.name || other.type !== existing.type,
      );
      break;
    }
    default: {
      const existing = pick(random, model.records);
      store.delete(existing.name);
      model.records = model.records.filter((other) => other.name !== existing.name);
    }
  }
}

function comparable(answer: ModelAnswer) {
  return {
    rcode: RCODE[answer.rcode],
    authoritative: answer.authoritative,
    answers: answer.answers.map(normalized),
    authorities: answer.authorities.map(normalized),
    additionals: answer.additionals.map(normalized),
  };
}

const REFUSED = { rcode: RCODE.REFUSED, authoritative: false, answers: [], authorities: [], additionals: [] };

function expectModelAnswer(table: Responder, model: Model, name: string, type: string): void {
  const reply = decoded(answerTo(table, query(name, type), 'stream'));
  model.shownToAny = reply.answers.at(-1)?.type;
  const answer = model.answer(name.toLowerCase(), type);
  const expected = answer === null ? REFUSED : comparable(answer);
  expect({ name, type, ...reply }).toMatchObject({ name, type, question: name, ...expected });
}

describe('a table of random zones', () => {
  test('answers as the model does, even after every kind of change', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomFrom(seed);
      const store = new ZoneStore();
      const table = createAnswerTable(store);
      const model = new Model();
      for (let count = 0; count < RECORDS; count++) put(store, model, randomRecord(random));
      for (let count = 0; count <= CHANGES && model.records.length > 0; count++) {
        for (let asked = 0; asked < QUESTIONS; asked++) {
          expectModelAnswer(table, model, mixCase(random, randomName(random)), pick(random, ASKED_TYPES));
        }
        change(random, store, model);
      }
    }
  });

  test('replies byte for byte what the chain replies, to good and mutated queries', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomFrom(seed);
      const store = new ZoneStore();
      const table = createAnswerTable(store);
      for (let count = 0; count < RECORDS; count++) {
        const { name, type, data, ttl } = randomRecord(random);
        store.append(name, type as SupportedRecordType, data as Data, ttl);
      }
      for (let asked = 0; asked < 400; asked++) {
        const message = mutated(random, randomName(random), pick(random, ASKED_TYPES));
        const transport: Transport = random(2) === 0 ? 'udp' : 'stream';
        const chain = chainReply(store.handler, (response) => response.errors.refused(), message, transport);
        expect({ message, reply: answerTo(table, message, transport) }).toEqual({ message, reply: chain });
      }
    }
  });

  test('uses no more memory after many changes than after few', () => {
    const random = randomFrom(1);
    const store = new ZoneStore();
    const names = Array.from({ length: 50 }, () => randomName(random));
    const churn = (count: number) => {
      for (let index = 0; index < count; index++) {
        store.set(pick(random, names), 'TXT', 'x'.repeat(random(200)));
        store.delete(pick(random, names));
      }
      for (const name of names) store.delete(name);
      return store.data.byteLength;
    };
    const before = churn(2000);
    expect(churn(40_000)).toBeLessThan(before * 2);
    expect(store.data.names.size).toBe(1);
  });
});

describe("a table of the framework's own store", () => {
  const nameError = (response: { errors: { nxDomain(): void } }) => response.errors.nxDomain();

  test('replies what its handler replies, even after every kind of change', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomFrom(seed);
      const store = new DefaultStore();
      const fill = () => {
        const { name, type, data } = randomRecord(random);
        return [name, type as SupportedRecordType, data as Data] as const;
      };
      for (let count = 0; count < RECORDS / 2; count++) store.append(...fill());
      const table = createAnswerTable(store, { outside: 'nxdomain' });
      for (let count = 0; count < CHANGES * QUESTIONS; count++) {
        const kind = random(50);
        if (kind === 0) store.set(...fill());
        else if (kind === 1) store.append(...fill());
        else if (kind === 2) store.delete(...fill());
        else if (kind === 3) store.delete(fill()[0], fill()[1]);
        else if (kind === 4) store.delete(fill()[0]);
        const message = query(randomName(random), pick(random, ASKED_TYPES));
        const chain = chainReply(store.handler, nameError, message, 'stream');
        expect(decoded(answerTo(table, message, 'stream'))).toEqual(decoded(chain));
      }
    }
  });
});
