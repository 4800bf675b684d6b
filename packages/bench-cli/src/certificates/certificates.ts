/**
 * The certificates of a run: an authority that exists for this run only, and a certificate of it for all servers, so
 * that loaders and checks verify what they are shown, as real clients do.
 *
 * Node.js makes keys and signatures and reads certificates, but writes none. The hundred lines of X.509 (RFC 5280)
 * that are needed for one kind of key and one signature algorithm are here, rather than a library and the fifteen
 * packages below it; OpenSSL, Go and Node.js verify the result in the tests.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { addressBytes } from '@dinodns-bench/wire';
import {
  bitString,
  explicit,
  implicit,
  integer,
  isTrue,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

/** The name in every certificate, for which clients verify it. Nothing resolves it (RFC 6761). */
export const SERVER_NAME = 'server.dinodns-bench.test';

/** The clocks of a cluster's nodes may differ. */
const VALID_BEFORE_SECONDS = 24 * 3600;
/** Longer than any run. */
const VALID_SECONDS = 30 * 24 * 3600;

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** `GeneralName`: [2] dNSName, [7] iPAddress (RFC 5280, section 4.2.1.6). */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** Bits of `KeyUsage`, from the left, and how many follow in the byte. */
const DIGITAL_SIGNATURE = bitString(Buffer.from([0x80]), 7);
const CERTIFICATE_SIGNATURE = bitString(Buffer.from([0x04]), 2);

const SERIAL_BYTES = 16;

/** Names of the servers' files, wherever they are put. */
export const CERTIFICATE_FILE = 'certificate.pem';
export const KEY_FILE = 'key.pem';

/** Where a server finds them. */
export const certificateFilesIn = (directory: string) => ({
  certificateFile: `${directory}/${CERTIFICATE_FILE}`,
  keyFile: `${directory}/${KEY_FILE}`,
});
export const AUTHORITY_FILE = 'authority.pem';

/** PEM texts. */
export interface Certificates {
  /** The authority's own certificate: what clients trust. Its key is forgotten. */
  readonly authority: string;
  /** The servers' certificate and its private key (PKCS #8). */
  readonly certificate: string;
  readonly key: string;
}

interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}

interface Subject {
  readonly name: string;
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
}

function extension(oid: string, critical: boolean, content: Buffer): Buffer {
  return sequence(objectIdentifier(oid), ...(critical ? [isTrue()] : []), octetString(content));
}

/** Method 1 of RFC 5280, section 4.2.1.2, over the whole key information instead of its last field: any unique value will do. */
function keyIdOf(publicKey: Buffer): Buffer {
  return createHash('sha1').update(publicKey).digest();
}

function issue(issuer: Issuer, { name, publicKey, extensions }: Subject, now: Date): Buffer {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const from = new Date(now.getTime() - VALID_BEFORE_SECONDS * 1000);
  const until = new Date(now.getTime() + VALID_SECONDS * 1000);
  const body = sequence(
    // Version 3 is written as 2.
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(SERIAL_BYTES)),
    algorithm,
    nameOf(issuer.name),
    sequence(time(from), time(until)),
    nameOf(name),
    publicKey,
    explicit(3, sequence(...extensions)),
  );
  return sequence(body, algorithm, bitString(sign('sha256', body, issuer.key)));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function newKey(): { key: KeyObject; publicKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, publicKey: publicKey.export({ type: 'spki', format: 'der' }) };
}

/**
 * Makes an authority and a certificate (EC P-256) for `SERVER_NAME` and for these addresses, both valid from a day ago
 * for thirty days.
 */
export function makeCertificates(addresses: readonly string[], now: Date): Certificates {
  const authority = newKey();
  const issuer = {
    name: 'authority of a dinodns-bench run',
    key: authority.key,
    keyId: keyIdOf(authority.publicKey),
  };
  const authorityCertificate = issue(
    issuer,
    {
      name: issuer.name,
      publicKey: authority.publicKey,
      extensions: [
        extension(OID.basicConstraints, true, sequence(isTrue())),
        extension(OID.keyUsage, true, CERTIFICATE_SIGNATURE),
        extension(OID.subjectKeyIdentifier, false, octetString(issuer.keyId)),
      ],
    },
    now,
  );
  const server = newKey();
  const names = [
    implicit(DNS_NAME, Buffer.from(SERVER_NAME)),
    ...addresses.map((address) => implicit(IP_ADDRESS, Buffer.from(addressBytes(address)))),
  ];
  const certificate = issue(
    issuer,
    {
      name: SERVER_NAME,
      publicKey: server.publicKey,
      extensions: [
        extension(OID.keyUsage, true, DIGITAL_SIGNATURE),
        extension(OID.extendedKeyUsage, false, sequence(objectIdentifier(OID.serverAuth))),
        extension(OID.subjectAltName, false, sequence(...names)),
        extension(OID.authorityKeyIdentifier, false, sequence(implicit(0, issuer.keyId))),
        extension(OID.subjectKeyIdentifier, false, octetString(keyIdOf(server.publicKey))),
      ],
    },
    now,
  );
  return {
    authority: pem(authorityCertificate),
    certificate: pem(certificate),
    key: server.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
