/**
 * The certificate of a run's servers in its namespace. It is in the ConfigMaps of the servers: its key is worth
 * nothing outside the run, and a Secret would need one more right.
 */
import {
  AUTHORITY_FILE,
  CERTIFICATE_FILE,
  type Certificates,
  KEY_FILE,
  SERVER_NAME,
} from '../../../certificates/certificates.ts';
import type { Trust } from '../../../dns/endpoint.ts';
import type { NamedFile } from './config-map.ts';

/** Where loaders and checkers find the files that they are given. */
export const QUERY_DIRECTORY = '/queries';

/** For a server's ConfigMap. */
export function certificateFiles({ certificate, key }: Certificates): NamedFile[] {
  return [
    { path: CERTIFICATE_FILE, chunks: [certificate] },
    { path: KEY_FILE, chunks: [key] },
  ];
}

/** The configuration of a server without its certificate and key, which are no part of the record. */
export function withoutCertificates(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => path !== CERTIFICATE_FILE && path !== KEY_FILE),
  );
}

/** Whom the loaders trust; they find the authority beside the queries. */
export function trustOf({ authority }: Certificates): Trust {
  return { serverName: SERVER_NAME, authority, authorityFile: `${QUERY_DIRECTORY}/${AUTHORITY_FILE}` };
}

/** For the ConfigMap of a loader or a checker. */
export function authorityFiles(trust: Trust | undefined): NamedFile[] {
  return trust === undefined ? [] : [{ path: AUTHORITY_FILE, chunks: [trust.authority] }];
}
