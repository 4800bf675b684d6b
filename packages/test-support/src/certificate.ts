/** A self-signed certificate for tests, made by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathOf } from './needs.ts';

/**
 * Makes a self-signed certificate that is valid for two days; returns the paths of certificate and key (PEM) in
 * `directory`. `names` is what openssl calls `subjectAltName`: `DNS:dns.test,IP:127.0.0.1`.
 */
export function makeCertificate(directory: string, names: string): { certificate: string; key: string } {
  const certificate = join(directory, 'certificate.pem');
  const key = join(directory, 'key.pem');
  execFileSync(
    pathOf('openssl'),
    [
      ...`req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=dns.test`.split(
        ' ',
      ),
      ...[`-keyout`, key, '-out', certificate, `-addext`, `subjectAltName=${names}`],
    ],
    { stdio: 'ignore' },
  );
  return { certificate, key };
}
