/** The certificate that a server shows, and how its processes share the sessions that clients resume. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import { messageOf, whyUnreadable } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';

/** Environment variable that gives the workers of one server the same ticket keys. Not a secret. */
export const TICKET_SALT_VARIABLE = 'DINODNS_SERVER_TICKET_SALT';

/** `ticketKeys` of `node:tls`: a name of 16 bytes and two keys of 16. */
const TICKET_KEYS_BYTES = 48;
const SALT_BYTES = 16;

/** PEM files. */
export interface CertificateFiles {
  /** The certificate, followed by those that lead to its authority. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What `tls.createServer`, `http2.createSecureServer` and `setSecureContext` take. */
export interface TlsCredentials extends SecureContextOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ticketKeys: Buffer;
}

/** The contents of the files. */
export interface Pem {
  readonly cert: string;
  readonly key: string;
}

function readPem(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ServerError(
      'E_UNREADABLE',
      `The ${what} ${file} ${whyUnreadable(error)}.`,
      'Give a PEM file that this user may read.',
      error,
    );
  }
}

/** Random and not secret; the same for all processes of a server. */
export function ticketSalt(): string {
  return randomBytes(SALT_BYTES).toString('hex');
}

/**
 * A client may reach another worker with its next connection, and must be able to resume its session there. So all
 * workers derive the keys of session tickets from what only they know, the private key; a restart changes them.
 */
function withTicketKeys(cert: Buffer, key: Buffer): TlsCredentials {
  const salt = process.env[TICKET_SALT_VARIABLE] ?? ticketSalt();
  const keys = hkdfSync('sha256', key, salt, 'dinodns-server session tickets', TICKET_KEYS_BYTES);
  return { cert, key, ticketKeys: Buffer.from(keys) };
}

export function pemOf({ cert, key }: TlsCredentials): Pem {
  return { cert: cert.toString('latin1'), key: key.toString('latin1') };
}

export function credentialsOf({ cert, key }: Pem): TlsCredentials {
  return withTicketKeys(Buffer.from(cert, 'latin1'), Buffer.from(key, 'latin1'));
}

/** Reads the files and tries them. Throws `E_UNREADABLE`, or `E_TLS` if they are not a certificate and its key. */
export function readCredentials({ certificateFile, keyFile }: CertificateFiles): TlsCredentials {
  const cert = readPem('certificate', certificateFile);
  const credentials = withTicketKeys(cert, readPem('private key', keyFile));
  try {
    // Only here: a server without TLS does not load it.
    process.getBuiltinModule('node:tls').createSecureContext(credentials);
  } catch (error) {
    throw new ServerError(
      'E_TLS',
      `${certificateFile} and ${keyFile} cannot be used for TLS: ${messageOf(error)}.`,
      'Give a certificate and its own, unencrypted private key, both in PEM format.',
      error,
    );
  }
  return credentials;
}
