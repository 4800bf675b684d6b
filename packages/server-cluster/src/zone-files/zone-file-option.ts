/** Which zone files are served, and under which name. */
import { basename } from 'node:path';

/** A zone file, and its zone's name if neither the file's contents nor its name give it. */
export interface ZoneFileOption {
  readonly file: string;
  readonly origin?: string;
}

/** `example.org` for `example.org.zone` and `db.example.org`; undefined for other names. */
export function originOfFile(file: string): string | undefined {
  return /^(?:db\.(.+)|(.+)\.zone)$/
    .exec(basename(file))
    ?.slice(1)
    .find((name) => name !== undefined);
}
