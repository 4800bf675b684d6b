/**
 * The questions of ISC's `genreport` (github.com/isc-projects/DNS-Compliance-Testing, groups EDNS, COMM and FULL), and
 * that of RFC 8906, section 8.2.5, which it lacks; and what is wrong with an answer, by genreport's rules.
 */
import { encodeName } from '@dinodns-bench/wire';

export interface ComplianceQuestion {
  readonly name: string;
  /** Default: SOA. */
  readonly type?: number;
  /** Header flags. */
  readonly flags?: number;
  readonly opcode?: number;
  readonly edns?: Edns;
}

interface Edns {
  readonly size?: number;
  readonly version?: number;
  readonly flags?: number;
  /** Options as they are on the wire, in hexadecimal digits. */
  readonly options?: string;
}

const SOA = 6;
const DNSKEY = 48;
const AA = 0x0400;
const TC = 0x0200;
const RD = 0x0100;
const RA = 0x0080;
const Z = 0x0040;
const AD = 0x0020;
const CD = 0x0010;
const DO = 0x8000;
const BADVERS = 16;
const NOTIMP = 4;

const UNKNOWN = '00640000';
const NSID = '00030000';
const SUBNET = '0008000400010000';
const EXPIRE = '00090000';
const COOKIE = '000a00080102030405060708';

export const QUESTIONS: readonly ComplianceQuestion[] = [
  { name: 'dns' },
  { name: 'aa', flags: AA },
  { name: 'ad', flags: AD },
  { name: 'cd', flags: CD },
  { name: 'ra', flags: RA },
  { name: 'rd', flags: RD },
  { name: 'tc', flags: TC },
  { name: 'zflag', flags: Z },
  { name: 'opcode', opcode: 15 },
  { name: 'opcodeflg', opcode: 15, flags: AA | TC | RD | RA | Z | AD | CD },
  { name: 'type666', type: 666 },
  { name: 'tcp' },
  { name: 'edns', edns: {} },
  { name: 'edns1', edns: { version: 1 } },
  { name: 'edns@512', type: DNSKEY, edns: { size: 512 } },
  { name: 'ednsopt', edns: { options: UNKNOWN } },
  { name: 'edns1opt', edns: { version: 1, options: UNKNOWN } },
  { name: 'do', edns: { flags: DO } },
  { name: 'docd', flags: CD, edns: { flags: DO } },
  { name: 'edns1do', edns: { version: 1, flags: DO } },
  { name: 'ednsflags', edns: { flags: 0x0080 } },
  { name: 'optlist', edns: { options: NSID + SUBNET + EXPIRE + COOKIE } },
  { name: 'ednsnsid', edns: { options: NSID } },
  { name: 'ednscookie', edns: { options: COOKIE } },
  { name: 'ednsexpire', edns: { options: EXPIRE } },
  { name: 'ednssubnet', edns: { options: SUBNET } },
  { name: 'edns1nsid', edns: { version: 1, options: NSID } },
  { name: 'edns1cookie', edns: { version: 1, options: COOKIE } },
  { name: 'edns1expire', edns: { version: 1, options: EXPIRE } },
  { name: 'edns1subnet', edns: { version: 1, options: SUBNET } },
  { name: 'ednstcp', type: DNSKEY, edns: { size: 512, flags: DO } },
  { name: 'bind11', edns: { flags: DO, options: COOKIE } },
  { name: 'dig11', flags: RD | AD, edns: { options: COOKIE } },
  { name: 'edns1flags', edns: { version: 1, flags: 0x0080 } },
];

/** The question about a zone; of an unknown operation, a header alone. */
export function messageOf(
  { type = SOA, flags = 0, opcode = 0, edns }: ComplianceQuestion,
  zone: string,
): Buffer {
  const header = Buffer.from([
    0x12,
    0x34,
    0,
    0,
    0,
    opcode === 0 ? 1 : 0,
    0,
    0,
    0,
    0,
    0,
    edns === undefined ? 0 : 1,
  ]);
  header.writeUInt16BE((opcode << 11) | flags, 2);
  if (opcode !== 0) return header;
  return Buffer.concat([header, encodeName(zone), Buffer.from([type >> 8, type & 0xff, 0, 1]), optOf(edns)]);
}

function optOf(edns: Edns | undefined): Buffer {
  if (edns === undefined) return Buffer.alloc(0);
  const { size = 4096, version = 0, flags = 0, options = '' } = edns;
  const data = Buffer.from(options, 'hex');
  const record = Buffer.alloc(11);
  record.writeUInt16BE(41, 1);
  record.writeUInt16BE(size, 3);
  record.writeUInt8(version, 6);
  record.writeUInt16BE(flags, 7);
  record.writeUInt16BE(data.length, 9);
  return Buffer.concat([record, data]);
}

/** What a reply says, as far as the rules ask. */
export interface ComplianceReply {
  readonly bytes: number;
  readonly flags: number;
  readonly questions: number;
  /** Types of the answer section. */
  readonly answers: readonly number[];
  readonly authorities: number;
  /** Records of the additional section but OPT. */
  readonly additionals: number;
  readonly opt: {
    readonly code: number;
    readonly version: number;
    readonly flags: number;
    readonly options: readonly number[];
  } | null;
}

/** genreport's words for what is wrong; none if the answer is right. */
export function faultsOf(
  question: ComplianceQuestion,
  reply: ComplianceReply,
  transport: 'udp' | 'tcp',
): string[] {
  const { type = SOA, flags = 0, opcode = 0, edns } = question;
  const isQuery = opcode === 0;
  const version = edns?.version ?? 0;
  const code = (reply.flags & 0xf) | ((reply.opt?.code ?? 0) << 4);
  const expected = isQuery ? (version === 0 ? 0 : BADVERS) : NOTIMP;
  const hasSoa = reply.answers.includes(SOA);
  const sections = reply.questions + reply.answers.length + reply.authorities + reply.additionals;
  const isLargeUdp = transport === 'udp' && reply.bytes > (edns?.size ?? (edns === undefined ? 512 : 4096));
  const checks: Readonly<Record<string, boolean>> = {
    'no-response-flag': (reply.flags & 0x8000) === 0,
    opcode: ((reply.flags >> 11) & 0xf) !== opcode,
    [`rcode${code}`]: code !== expected,
    'non-empty-section': !isQuery && sections > 0,
    nosoa: isQuery && type === SOA && version === 0 && !hasSoa,
    soa: hasSoa && (version !== 0 || type !== SOA),
    noopt: edns !== undefined && reply.opt === null,
    opt: edns === undefined && reply.opt !== null,
    'version-not-zero': reply.opt !== null && reply.opt.version !== 0,
    mbz: reply.opt !== null && (reply.opt.flags & 0x7fff) !== 0,
    nodo: reply.opt !== null && ((edns?.flags ?? 0) & DO) !== (reply.opt.flags & DO),
    echoed: reply.opt?.options.includes(100) === true,
    subnet: reply.opt?.options.includes(8) === true,
    noaa: isQuery && version === 0 && (reply.flags & AA) === 0,
    aa: !isQuery && (reply.flags & AA) !== 0,
    tc: (reply.flags & TC) !== 0,
    ra: (reply.flags & RA) !== 0,
    rd: (reply.flags & RD) !== (isQuery ? flags & RD : 0),
    z: (reply.flags & Z) !== 0,
    ad: (reply.flags & AD) !== 0,
    cd: (reply.flags & CD) !== 0,
    toobig: isLargeUdp,
  };
  return Object.keys(checks).filter((name) => checks[name]);
}
