/** Random zone files with every type, in all forms that zone files allow. */
import { pick, type Random } from '@dinodns-bench/test-support';

const LABELS = ['a', 'b', 'www', 'MAIL', 'x-1', '_tcp', '*', 'deep', 'dot\\.ted', 'sp\\032ace', '\\000', 'ü'];

function label(random: Random): string {
  return random(4) === 0 ? `n${random(100)}` : pick(random, LABELS);
}

function name(random: Random): string {
  const labels = Array.from({ length: 1 + random(3) }, () => label(random));
  return pick(random, [
    '@',
    labels.join('.'),
    labels.join('.'),
    `${labels.join('.')}.example.`,
    `${labels.join('.')}.`,
  ]);
}

function bytes(random: Random, least: number, most: number): Buffer {
  return Buffer.from(Array.from({ length: least + random(most - least + 1) }, () => random(256)));
}

/** A word broken by blanks, as long data is written. */
function broken(random: Random, word: string): string {
  return random(2) === 0 ? word : word.replace(/.{8}(?=.)/g, (part) => (random(3) === 0 ? `${part} ` : part));
}

function hex(random: Random, least: number, most: number): string {
  const text = bytes(random, least, most).toString('hex');
  return broken(random, random(2) === 0 ? text : text.toUpperCase());
}

function base64(random: Random, least: number, most: number): string {
  return broken(random, bytes(random, least, most).toString('base64'));
}

const TEXT_CHARACTERS = [
  'a',
  'B',
  '7',
  ' ',
  ';',
  '(',
  ')',
  '\\"',
  '\\\\',
  '\\200',
  '\\009',
  '\\;',
  ',',
  '=',
  '\t',
  'é',
  '$',
  '@',
];

function text(random: Random): string {
  const characters = Array.from({ length: random(20) }, () => pick(random, TEXT_CHARACTERS));
  return random(3) === 0 ? pick(random, ['word', 'w\\;x', 'q\\"', 'v=spf1']) : `"${characters.join('')}"`;
}

function time(random: Random): string {
  return pick(random, ['0', String(random(2 ** 31)), '1h', '2d12h', '1W', '30m5s']);
}

function types(random: Random): string {
  const all = [
    'A',
    'NS',
    'soa',
    'MX',
    'TXT',
    'AAAA',
    'RRSIG',
    'NSEC',
    'DNSKEY',
    'CAA',
    'TYPE300',
    'TYPE65535',
    'TYPE1234',
  ];
  return Array.from({ length: 1 + random(6) }, () => pick(random, all)).join(' ');
}

function ipv4(random: Random): string {
  return bytes(random, 4, 4).join('.');
}

function ipv6(random: Random): string {
  const groups = Array.from({ length: 8 }, () => (random(3) === 0 ? random(0x10000).toString(16) : '0'));
  return pick(random, [
    groups.join(':'),
    `::${groups[0]}:${groups[1]}`,
    `${groups[0]}::`,
    `::ffff:${ipv4(random)}`,
    '::',
  ]);
}

function number(random: Random, bits: number): string {
  return String(pick(random, [0, 1, random(2 ** bits), 2 ** bits - 1]));
}

const u8 = (random: Random) => number(random, 8);
const u16 = (random: Random) => number(random, 16);
const u32 = (random: Random) => number(random, 32);

function key(random: Random): string {
  return `${pick(random, [0, 256, 257])} 3 ${pick(random, ['13', '15', 'ED25519'])} ${base64(random, 32, 90)}`;
}

function digest(random: Random): string {
  const [type, length] = pick(random, [
    [1, 20],
    [2, 32],
    [4, 48],
    [9, 7],
  ] as const);
  return `${u16(random)} ${random(16)} ${type} ${hex(random, length, length)}`;
}

function signature(random: Random): string {
  const times = `${random(2 ** 31)} ${pick(random, ['20300101000000', '20991231235959'])} 20200101000000`;
  return `${pick(random, ['A', 'NS', 'TYPE400', 'DNSKEY'])} 8 ${20 + random(5)} ${times} ${u16(random)} ${name(random)} ${base64(random, 60, 130)}`;
}

function location(random: Random): string {
  const latitude = `${random(90)} ${random(60)} ${random(60)}.${random(1000)} ${pick(random, ['N', 'S'])}`;
  const longitude = `${random(180)} ${random(60)} ${pick(random, ['E', 'W'])}`;
  const rest = ['-10m', '10.5m 2m', '123.45 0.01m 5', '0 0 0 0', '42849672.95m 1m 10000m 10m'];
  return `${latitude} ${longitude} ${pick(random, rest)}`;
}

const PARAMETERS = [
  'alpn=h2,h3',
  'alpn="h2"',
  'port=443',
  'ipv4hint=192.0.2.1,192.0.2.2',
  'ipv6hint=::1',
  'ech=AAAA',
  'key667="a b"',
  'key9',
];

function service(random: Random): string {
  const parameters = PARAMETERS.filter((parameter) => random(3) === 0 && parameter !== 'alpn="h2"');
  return `${1 + random(9)} ${name(random)} ${parameters.sort(() => random(3) - 1).join(' ')}`;
}

function gateway(random: Random): string {
  return pick(random, [`0 2 .`, `1 2 ${ipv4(random)}`, `2 2 ${ipv6(random)}`, `3 2 ${name(random)}`]);
}

function generic(random: Random): string {
  const length = random(40);
  return `\\# ${length} ${hex(random, length, length)}`;
}

/** Data as text, by type, without types that may be at a name only once or only at the apex. */
export const DATA: Readonly<Record<string, (random: Random) => string>> = {
  A: ipv4,
  AAAA: ipv6,
  NS: name,
  PTR: name,
  MB: name,
  MG: name,
  MR: name,
  LP: (random) => `${u16(random)} ${name(random)}`,
  MX: (random) => `${u16(random)} ${name(random)}`,
  KX: (random) => `${u16(random)} ${name(random)}`,
  RT: (random) => `${u16(random)} ${name(random)}`,
  AFSDB: (random) => `${u16(random)} ${name(random)}`,
  PX: (random) => `${u16(random)} ${name(random)} ${name(random)}`,
  RP: (random) => `${name(random)} ${name(random)}`,
  MINFO: (random) => `${name(random)} ${name(random)}`,
  TALINK: (random) => `${name(random)} ${name(random)}`,
  'NSAP-PTR': name,
  TXT: (random) => Array.from({ length: 1 + random(4) }, () => text(random)).join(' '),
  SPF: text,
  AVC: text,
  NINFO: text,
  RESINFO: text,
  WALLET: text,
  HINFO: (random) => `${text(random)} ${text(random)}`,
  ISDN: (random) => `${text(random)} ${random(2) === 0 ? text(random) : ''}`,
  X25: (random) => `"${1000 + random(1e9)}"`,
  GPOS: (random) => `-${random(90)}.5 ${random(180)} ${random(9000)}.25`,
  CAA: (random) => `${u8(random)} ${pick(random, ['issue', 'IODEF', 'x1'])} ${text(random)}`,
  URI: (random) => `${u16(random)} ${u16(random)} "${pick(random, ['', 'https://a/', 'a\\"b\\200'])}"`,
  SRV: (random) => `${u16(random)} ${u16(random)} ${u16(random)} ${name(random)}`,
  NAPTR: (random) =>
    `${u16(random)} ${u16(random)} ${pick(random, ['"u"', 's', '""'])} "E2U+sip" "" ${name(random)}`,
  DS: digest,
  CDS: digest,
  DLV: digest,
  TA: digest,
  DNSKEY: key,
  CDNSKEY: key,
  RKEY: (random) => `0 3 8 ${base64(random, 1, 90)}`,
  KEY: key,
  RRSIG: signature,
  SIG: signature,
  NSEC: (random) => `${name(random)} ${types(random)}`,
  NSEC3: (random) =>
    `1 ${random(2)} ${random(100)} ${pick(random, ['-', 'aabb', 'AB12CD'])} 2t7b4g4vsa5smi47k61mv5bv1a22bojr ${types(random)}`,
  NSEC3PARAM: (random) => `1 ${u8(random)} ${u16(random)} ${pick(random, ['-', 'aabb'])}`,
  CSYNC: (random) => `${u32(random)} ${u16(random)} ${types(random)}`,
  NXT: (random) => `${name(random)} ${pick(random, ['A', 'A NS TXT', 'MX TYPE127'])}`,
  TLSA: (random) => `${u8(random)} ${u8(random)} ${u8(random)} ${hex(random, 1, 90)}`,
  SMIMEA: (random) => `${u8(random)} ${u8(random)} ${u8(random)} ${hex(random, 1, 90)}`,
  SSHFP: (random) => `9 9 ${hex(random, 1, 90)}`,
  ZONEMD: (random) =>
    `${u32(random)} 1 ${pick(random, [`1 ${hex(random, 48, 48)}`, `200 ${hex(random, 12, 80)}`])}`,
  CERT: (random) =>
    `${pick(random, ['PKIX', '2', 'URI', '65535'])} ${u16(random)} ${pick(random, ['8', '0', 'RSASHA1'])} ${base64(random, 1, 90)}`,
  OPENPGPKEY: (random) => base64(random, 1, 200),
  DHCID: (random) => base64(random, 1, 90),
  HIP: (random) =>
    `2 ${bytes(random, 1, 20).toString('hex')} ${bytes(random, 1, 60).toString('base64')} ${random(2) === 0 ? name(random) : ''}`,
  IPSECKEY: (random) => `${u8(random)} ${gateway(random)} ${base64(random, 1, 60)}`,
  AMTRELAY: (random) => `${u8(random)} ${random(2)} ${gateway(random).replace(/^(\d) 2/, '$1')}`,
  APL: (random) => pick(random, ['', `1:${ipv4(random)}/32 !2:${ipv6(random)}/128`, '1:10.0.0.0/8']),
  EUI48: (random) => Array.from(bytes(random, 6, 6), (byte) => byte.toString(16).padStart(2, '0')).join('-'),
  EUI64: (random) => Array.from(bytes(random, 8, 8), (byte) => byte.toString(16).padStart(2, '0')).join('-'),
  NID: (random) => `${u16(random)} ${random(65_536).toString(16)}:0:ffff:${random(16)}`,
  L32: (random) => `${u16(random)} ${ipv4(random)}`,
  L64: (random) => `${u16(random)} 2001:0db8:${random(16)}:0`,
  LOC: location,
  SVCB: service,
  HTTPS: service,
  WKS: (random) => `${ipv4(random)} ${pick(random, ['tcp smtp', 'udp domain 7', `6 ${random(65_536)} 25`])}`,
  NSAP: (random) => `0x47.${bytes(random, 1, 19).toString('hex')}`,
  ATMA: (random) => pick(random, [`+${random(1e9)}`, bytes(random, 1, 20).toString('hex')]),
  A6: (random) =>
    pick(random, [`0 ${ipv6(random)}`, `64 ::${random(9)} ${name(random)}`, `128 ${name(random)}`]),
  DOA: (random) =>
    `${u32(random)} ${u32(random)} ${u8(random)} ${text(random)} ${pick(random, ['-', base64(random, 1, 30)])}`,
  EID: (random) => hex(random, 1, 90),
  NIMLOC: (random) => hex(random, 1, 90),
  SINK: (random) => `${u8(random)} ${u8(random)} ${u8(random)} ${base64(random, 1, 30)}`,
  TYPE65280: generic,
  TYPE731: generic,
  NULL: generic,
  GID: generic,
};

/** A line for a record of that type, in one of the forms that lines can have. */
function entry(random: Random, type: string): string {
  const owner = random(3) === 0 ? pick(random, ['\t', ' ', '    ']) : `x.${name(random).replace('@', 'y')} `;
  const ttl = random(3) === 0 ? `${time(random)} ` : '';
  const classText = random(3) === 0 ? pick(random, ['IN ', 'in ', 'CLASS1 ']) : '';
  const head = owner + (random(2) === 0 ? ttl + classText : classText + ttl) + type;
  const data = DATA[type]?.(random) ?? '';
  const comment = random(4) === 0 ? ' ; "comment" (' : '';
  if (random(4) > 0 || data.includes('"')) return `${head} ${data}${comment}\n`;
  return `${head} (${comment}\n  ${data.replaceAll(' ', random(2) === 0 ? '\n\t' : ' ')} )\n`;
}

/** A zone file for `example.` with at least one record of every type. */
export function randomZone(random: Random): string {
  const lines = ['@ 300 SOA ns host 1 2 3 4 5\n', '@ NS ns.other.\n', 'x A 192.0.2.1\n'];
  // Without it, BIND's TTLs depend on how it corrects those that differ within a set.
  lines.unshift(`$TTL ${time(random)}\n`);
  for (const type of [...Object.keys(DATA), ...Object.keys(DATA)]) {
    if (random(20) === 0) lines.push(`$ORIGIN ${pick(random, ['sub', 'example.', 'example.', 'other.'])}\n`);
    if (random(20) === 0) lines.push(`$TTL ${time(random)}\n`);
    if (random(20) === 0) lines.push(pick(random, ['\n', ';\n', '   ; x\r\n', '\t\n']));
    lines.push(entry(random, type));
  }
  return lines.join('');
}
