/** One case for each kind of answer from the table: including copying the query into its slot. */
import type { Responder, ZoneStore } from '@dinodns-bench/server-cluster';
import { defineZoneSet } from '@dinodns-bench/zones';
import type { Case } from '../harness.ts';
import { type Question, queriesFor } from './queries.ts';

/** Bytes for one reply. */
const SLOT = 2048;

const A = 1;
const MX = 15;
const SRV = 33;

const zones = defineZoneSet({
  records: [
    'A 127.0.0.1',
    'MX 10 mail.{zone}',
    'mail A 127.0.0.2',
    '_s._tcp SRV 1 2 53 mail.{zone}',
    'www CNAME {zone}',
  ],
});

/** Adds the zones that the cases ask about. */
export function fillStore(store: Pick<ZoneStore, 'addZone' | 'set'>): void {
  for (const zone of zones.zones()) store.addZone(zone);
  for (const { name } of zones.zones()) {
    store.set(`*.wild.${name}`, 'A', '127.0.0.3');
    store.set(`sub.${name}`, 'NS', `ns.sub.${name}`);
    store.set(`ns.sub.${name}`, 'A', '127.0.0.4');
  }
}

/** Sends the questions in turn. Throws if the table does not answer one of them. */
export function answerCase(name: string, table: Responder, questions: readonly Question[]): Case {
  const { bytes, stride, lengths } = queriesFor(questions);
  const slot = new Uint8Array(SLOT);
  let next = 0;
  return {
    name,
    run(count) {
      for (let done = 0; done < count; done++) {
        const from = next * stride;
        const length = lengths[next] ?? 0;
        for (let at = 0; at < length; at++) slot[at] = bytes[from + at] ?? 0;
        if (table.answer(slot, 0, length, SLOT, 'udp') <= 0) throw new Error(`no answer: ${name}`);
        next = next + 1 < lengths.length ? next + 1 : 0;
      }
      return count;
    },
  };
}

function questionsFor(prefix: string, type: number, edns = false): Question[] {
  return Array.from(zones.zones(), ({ name }) => ({ name: prefix + name, type, edns }));
}

/** The cases, for the table of a store filled by `fillStore`. */
export function answerCases(table: Responder): Case[] {
  const outside = Array.from({ length: 100 }, (_, index) => ({ name: `example${index * 2}.com`, type: A }));
  return [
    answerCase('address', table, questionsFor('', A)),
    answerCase('address, EDNS', table, questionsFor('', A, true)),
    answerCase('MX', table, questionsFor('', MX)),
    answerCase('SRV, name in full', table, questionsFor('_s._tcp.', SRV)),
    answerCase('no data', table, questionsFor('', SRV)),
    answerCase('NXDOMAIN', table, questionsFor('missing.', A)),
    answerCase('outside of all zones', table, outside),
    answerCase('CNAME and address', table, questionsFor('www.', A)),
    answerCase('wildcard', table, questionsFor('any.wild.', A)),
    answerCase('referral with glue', table, questionsFor('host.sub.', A)),
  ];
}
