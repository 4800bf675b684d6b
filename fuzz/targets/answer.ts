/** Zones of any content, and the answers from them. */
import {
  EDNS_UDP_BYTES,
  encodeName,
  encodeOpt,
  encodeQuery,
  lowerCaseName,
  MAX_MESSAGE_BYTES,
  nameText,
  PLAIN_UDP_BYTES,
  TYPE,
} from '@dinodns-bench/wire';
import {
  checkZone,
  hashFinding,
  isWithin,
  parseZoneFile,
  ZoneFileError,
  type ZoneRecord,
} from '@dinodns-bench/zones';
import { ZoneStore } from '../../packages/server-cluster/src/store/zone-store.ts';
import { createAnswerTable } from '../../packages/server-cluster/src/table/answer-table.ts';
import { RecordLoader } from '../../packages/server-cluster/src/table/record-loader.ts';
import type { Responder, Transport } from '../../packages/server-cluster/src/table/responder.ts';
import { openZone } from '../../packages/server-cluster/src/table/zone-cuts.ts';
import { ensure, type Target } from '../engine/target.ts';
import { type CheckedReply, checkReply } from '../reply.ts';

const ZONE = 'z.test';
const HEAD = `$ORIGIN ${ZONE}.\n$TTL 60\n@ SOA n.test. h.test. 1 7200 3600 1209600 300\n@ NS n.test.\n`;
/** Enough of a `$GENERATE` directive. */
const MAX_RECORDS = 300;
/** Names that are asked for; more make an execution slow and find little. */
const MAX_NAMES = 24;

const TYPES = [
  TYPE.A,
  TYPE.NS,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.TXT,
  TYPE.DNAME,
  TYPE.DS,
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.ANY,
];

interface Way {
  readonly transport: Transport;
  readonly opt: Buffer | null;
  readonly limit: number;
}
const BY_STREAM: Way = {
  transport: 'stream',
  opt: encodeOpt({ dnssecOk: true, udpBytes: 4096 }),
  limit: MAX_MESSAGE_BYTES,
};
const WAYS: readonly Way[] = [
  { transport: 'udp', opt: null, limit: PLAIN_UDP_BYTES },
  { transport: 'udp', opt: encodeOpt({ dnssecOk: true, udpBytes: 512 }), limit: PLAIN_UDP_BYTES },
  { transport: 'udp', opt: encodeOpt({ dnssecOk: true, udpBytes: 4096 }), limit: EDNS_UDP_BYTES },
];

/** The records of a zone that `dinodns-server` would serve; undefined for one that it refuses. */
function acceptable(text: Buffer): ZoneRecord[] | undefined {
  const apex = encodeName(ZONE);
  const records: ZoneRecord[] = [];
  try {
    for (const record of parseZoneFile(Buffer.concat([Buffer.from(HEAD), text]), { origin: '.' })) {
      if (hashFinding(record) !== undefined) return undefined;
      if (isWithin(record.name, apex)) records.push({ ...record });
      if (records.length > MAX_RECORDS) break;
    }
  } catch (error) {
    if (error instanceof ZoneFileError) return undefined;
    throw error;
  }
  const findings = checkZone(apex, records);
  return findings.some(({ severity }) => severity === 'error') ? undefined : records;
}

function tableOf(records: readonly ZoneRecord[]): Responder {
  const store = new ZoneStore();
  const loader = new RecordLoader(store.data);
  const zone = lowerCaseName(encodeName(ZONE));
  loader.begin(zone, openZone(store.data, zone));
  for (const { name, type, ttl, data } of records) {
    loader.add(name, 0, name.length, type, ttl, data, 0, data.length);
  }
  loader.flush();
  return createAnswerTable(store);
}

const slot = Buffer.alloc(MAX_MESSAGE_BYTES);

function ask(table: Responder, name: Uint8Array, type: number, { transport, opt, limit }: Way): CheckedReply {
  const query = encodeQuery({ id: 4711, name, type, opt });
  slot.set(query);
  const length = table.answer(slot, 0, query.length, slot.length, transport);
  ensure(length > 0, () => `no answer to ${nameText(name)} ${type}: ${length}`);
  const reply = checkReply(slot.subarray(0, length), query, limit);
  ensure(!reply.truncated || transport === 'udp', 'TC over a stream');
  // A pointer that goes wrong leads to another name, if to any.
  for (const { owner, type: found } of [...reply.answers, ...reply.authorities]) {
    const isIn =
      owner === ZONE || owner.endsWith(`.${ZONE}`) || owner === `${ZONE}.` || owner.endsWith(`.${ZONE}.`);
    ensure(isIn, () => `a record of type ${found} of "${owner}", which is in no zone`);
  }
  return reply;
}

/** The owners, and below each a name that is not there and one of the same label, to which a DNAME record may lead back. */
function namesOf(records: readonly ZoneRecord[]): Uint8Array[] {
  const names = new Map<string, Uint8Array>();
  for (const { name } of records) {
    const label = name.subarray(0, 1 + (name[0] ?? 0));
    for (const candidate of [name, Buffer.concat([Buffer.of(1, 0x78), name]), Buffer.concat([label, name])]) {
      if (candidate.length <= 255) names.set(Buffer.from(candidate).toString('hex'), candidate);
    }
  }
  return [...names.values()].slice(0, MAX_NAMES);
}

const text = (records: CheckedReply['answers']) => JSON.stringify(records);

const signature = (type: string, bytes = 8) =>
  `RRSIG ${type} 13 3 60 20300101000000 20200101000000 1 ${ZONE}. ${Buffer.alloc(bytes, 7).toString('base64')}`;
const LONG = 'x'.repeat(250);

const SEEDS = [
  'a A 192.0.2.1\na A 192.0.2.2\na AAAA 2001:db8::1\nb MX 10 a\n* TXT "w"\n',
  'n0 CNAME n1\nn1 CNAME n2\nn2 CNAME n0\nout CNAME www.example.net.\nself CNAME self\n',
  `d DNAME ${ZONE}.\ne DNAME d\ne.f DNAME e\nx A 192.0.2.1\nc CNAME x.d\n`,
  'sub NS ns.sub\nsub NS ns.other.test.\nns.sub A 192.0.2.53\nsub DS 1 13 2 ABCD\nx.y.sub A 192.0.2.9\n',
  `@ ${signature('SOA')}\n@ NSEC a NS SOA RRSIG NSEC\n@ ${signature('NSEC')}\na A 192.0.2.1\n ${signature('A')}\na NSEC @ A RRSIG NSEC\n ${signature('NSEC')}\n*.a CNAME a\n ${signature('CNAME')}\n`,
  `@ NSEC3PARAM 1 0 2 AB\n0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 0 2 AB 2t7b4g4vsa5smi47k61mv5bv1a22bojr A\n ${signature('NSEC3')}\n`,
  `${Array.from({ length: 12 }, (_none, index) => `l${index} CNAME l${index + 1}\nl${index} ${signature('CNAME', 2500)}\n`).join('')}l12 A 192.0.2.1\n`,
  `${Array.from({ length: 9 }, () => `t TXT "${LONG}" "${LONG}"\n`)
    .join('')
    .replaceAll('x"\n', 'x" "1"\n')}`,
];

export const answer: Target = {
  name: 'answer',
  title: 'zones of any content, and the answers from them (server-cluster)',
  maxBytes: 60_000,
  dictionary: [
    ...[
      '\n',
      ' CNAME ',
      ' DNAME ',
      ' NS ',
      ' A 192.0.2.1\n',
      ' TXT "x"\n',
      '*.',
      '@',
      'a',
      'b.',
      `.${ZONE}.`,
      ' DS 1 13 2 AB\n',
    ],
    ...[
      ` ${signature('A')}\n`,
      ` ${signature('CNAME')}\n`,
      ` ${signature('DNAME', 300)}\n`,
      ' NSEC a A RRSIG NSEC\n',
    ],
  ],
  seeds: () => SEEDS.map((zone) => Buffer.from(zone)),
  check(input) {
    const records = acceptable(input);
    if (records === undefined) return;
    const table = tableOf(records);
    for (const name of namesOf(records)) {
      for (const type of TYPES) {
        const whole = ask(table, name, type, BY_STREAM);
        for (const way of WAYS) {
          const reply = ask(table, name, type, way);
          // What fits is the same over UDP, but for signatures where they were not asked for.
          if (reply.truncated || way.opt === null) continue;
          ensure(text(reply.answers) === text(whole.answers), 'UDP and TCP answer differently');
          ensure(text(reply.authorities) === text(whole.authorities), 'UDP and TCP refer differently');
        }
      }
    }
  },
};
