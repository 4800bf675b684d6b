/**
 * DNS cookies (RFC 7873) of the format that servers share (RFC 9018): a client that sends one back that we made has shown that it
 * receives what we send to its address, so that rate limiting can spare it. Nothing is remembered about clients.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { whyUnreadable } from '@dinodns-bench/program';
import { EDNS_OPTION, type QueryReader } from '@dinodns-bench/wire';
import { ServerError } from '../errors.ts';
import { ADDRESS_BYTES, isMapped } from './networks.ts';
import { sipHash } from './siphash.ts';

const CLIENT_BYTES = 8;
/** Version, three reserved bytes and the time; then the hash. */
const PREFIX_BYTES = 8;
const HASH_BYTES = 8;
const SERVER_BYTES = PREFIX_BYTES + HASH_BYTES;
const OPTION_HEAD_BYTES = 4;
/** The option that we send. The answer table leaves room for it where a query has a cookie. */
export const COOKIE_OPTION_BYTES = OPTION_HEAD_BYTES + CLIENT_BYTES + SERVER_BYTES;

const VERSION = 1;
/** RFC 9018, section 4.3, in seconds: accepted if this old, or this far in the future; replaced if this old. */
const OLDEST = 3600;
const FUTURE = 300;
const RENEWED = 1800;

export const SECRET_BYTES = 16;
/** The one that makes cookies, and those before and after it while they are replaced (RFC 9018, section 5). */
const MAX_SECRETS = 3;

/** The workers of a server get its secret in their environment. */
const SECRET_VARIABLE = 'DINODNS_SERVER_COOKIE_SECRET';

/** What a client has sent: only its own cookie, or with a server's that is invalid or valid. */
export const COOKIE = { client: 1, invalid: 2, valid: 3 } as const;
export type CookieState = (typeof COOKIE)[keyof typeof COOKIE];

/**
 * Secrets in a file, as 32 hexadecimal digits on a line each, the first to make cookies with. Without a file, a random one, which this
 * process and those that it starts share.
 *
 * @throws ServerError `E_UNREADABLE`, or `E_USAGE` for a file with other lines.
 */
export function cookieSecrets(file: string | undefined): readonly string[] {
  if (file === undefined) {
    process.env[SECRET_VARIABLE] ??= randomBytes(SECRET_BYTES).toString('hex');
    return [process.env[SECRET_VARIABLE]];
  }
  const fix = `Write 1 to ${MAX_SECRETS} lines of ${2 * SECRET_BYTES} hexadecimal digits: openssl rand -hex ${SECRET_BYTES} > ${file}`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const problem = `The file of cookie secrets ${file} ${whyUnreadable(error)}.`;
    throw new ServerError('E_UNREADABLE', problem, fix, error);
  }
  const lines = text.split('\n').map((line) => line.trim());
  // A secret does not belong into a message: the line is named by its number.
  const wrong = lines.findIndex((line) => line !== '' && !/^[0-9a-f]{32}$/i.test(line));
  if (wrong !== -1) throw new ServerError('E_USAGE', `Line ${wrong + 1} of ${file} is no secret.`, fix);
  const secrets = lines.filter((line) => line !== '');
  if (secrets.length === 0 || secrets.length > MAX_SECRETS) {
    throw new ServerError('E_USAGE', `${file} has ${secrets.length} secrets.`, fix);
  }
  return secrets;
}

/** Reads the cookie of one query at a time, and writes the one for its reply. */
export class Cookies {
  #secrets: readonly Uint8Array[];
  /** The client's cookie, the first half of the server's, and the client's address: what is hashed. */
  readonly #input = new Uint8Array(CLIENT_BYTES + PREFIX_BYTES + ADDRESS_BYTES);
  #inputBytes = 0;
  readonly #hash = new Uint8Array(HASH_BYTES);
  /** The option for the reply to the last query read. */
  readonly #option = new Uint8Array(COOKIE_OPTION_BYTES);

  /** The first secret makes cookies; those of all are accepted. 16 bytes each. */
  constructor(secrets: readonly Uint8Array[]) {
    this.#secrets = secrets;
    this.#option.set([0, EDNS_OPTION.cookie, 0, CLIENT_BYTES + SERVER_BYTES]);
  }

  renew(secrets: readonly Uint8Array[]): void {
    this.#secrets = secrets;
  }

  /**
   * What the cookie of the query at `offset`, which has one, shows about the client, whose address is in the 16 bytes at `addressAt`. `now` is in
   * seconds since 1970.
   */
  read(
    bytes: Uint8Array,
    offset: number,
    { cookieAt, cookieBytes }: QueryReader,
    addresses: Uint8Array,
    addressAt: number,
    now: number = Date.now() / 1000,
  ): CookieState {
    const at = offset + cookieAt;
    const input = this.#input;
    for (let index = 0; index < CLIENT_BYTES; index++) input[index] = bytes[at + index] as number;
    const address = addresses.subarray(addressAt, addressAt + ADDRESS_BYTES);
    const significant = isMapped(address) ? address.subarray(12) : address;
    input.set(significant, CLIENT_BYTES + PREFIX_BYTES);
    this.#inputBytes = CLIENT_BYTES + PREFIX_BYTES + significant.length;
    const age =
      cookieBytes === CLIENT_BYTES + SERVER_BYTES ? this.#ageOf(bytes, at + CLIENT_BYTES, now) : Infinity;
    const isValid = age <= OLDEST && age >= -FUTURE;
    if (isValid && age < RENEWED) {
      this.#option.set(bytes.subarray(at, at + CLIENT_BYTES + SERVER_BYTES), OPTION_HEAD_BYTES);
    } else {
      this.#make(now);
    }
    if (isValid) return COOKIE.valid;
    return cookieBytes === CLIENT_BYTES ? COOKIE.client : COOKIE.invalid;
  }

  /** The age in seconds of a server cookie that one of our secrets made; infinite for any other. */
  #ageOf(bytes: Uint8Array, at: number, now: number): number {
    for (let index = 0; index < PREFIX_BYTES; index++)
      this.#input[CLIENT_BYTES + index] = bytes[at + index] as number;
    if (bytes[at] !== VERSION) return Infinity;
    for (const secret of this.#secrets) {
      sipHash(secret, this.#input, this.#inputBytes, this.#hash, 0);
      let difference = 0;
      // All of it, so that the time it takes tells nothing about where they differ.
      for (let index = 0; index < HASH_BYTES; index++) {
        difference |= (this.#hash[index] as number) ^ (bytes[at + PREFIX_BYTES + index] as number);
      }
      // Serial number arithmetic (RFC 1982): the time has 32 bits.
      if (difference === 0) return (Math.floor(now) - timeAt(bytes, at + 4)) | 0;
    }
    return Infinity;
  }

  #make(now: number): void {
    const input = this.#input;
    const seconds = Math.floor(now);
    input.set([VERSION, 0, 0, 0, seconds >>> 24, seconds >>> 16, seconds >>> 8, seconds], CLIENT_BYTES);
    this.#option.set(input.subarray(0, CLIENT_BYTES + PREFIX_BYTES), OPTION_HEAD_BYTES);
    const hashAt = COOKIE_OPTION_BYTES - HASH_BYTES;
    sipHash(this.#secrets[0] as Uint8Array, input, this.#inputBytes, this.#option, hashAt);
  }

  /** The option for the reply to the last query read, as a copy. */
  option(): Uint8Array {
    return this.#option.slice();
  }

  /**
   * Adds the option to a reply of `length` bytes that ends with an OPT record without options. Returns the new length; the old one,
   * and adds nothing, if it would exceed `capacity` bytes.
   */
  append(bytes: Uint8Array, offset: number, length: number, capacity: number): number {
    if (length + COOKIE_OPTION_BYTES > capacity) return length;
    const end = offset + length;
    bytes[end - 1] = COOKIE_OPTION_BYTES;
    bytes.set(this.#option, end);
    return length + COOKIE_OPTION_BYTES;
  }
}

function timeAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4);
  return (a << 24) | (b << 16) | (c << 8) | d;
}
