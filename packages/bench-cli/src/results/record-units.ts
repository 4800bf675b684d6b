/** The units and small vocabularies that the parts of the record share. */
import { z } from 'zod';

export const seconds = z.number().nonnegative();
export const bytes = z.number().nonnegative();
export const count = z.number().int().nonnegative();
export const timestamp = z.iso.datetime();
/** A share of a whole. */
export const ratio = z.number().min(0).max(1);

export const MODES = ['single', 'multi'] as const;
export const TRANSPORTS = ['udp', 'tcp', 'tls', 'https'] as const;
export const modeSchema = z.enum(MODES);
export const transportSchema = z.enum(TRANSPORTS);
export type Mode = z.output<typeof modeSchema>;
export type Transport = z.output<typeof transportSchema>;

/** Whether clients verify a certificate. */
export function isEncrypted(transport: Transport): boolean {
  return transport === 'tls' || transport === 'https';
}

/** What kept a trial from being faster. Only `server` makes its throughput a property of the server. */
export const limitedBySchema = z.enum(['server', 'loader', 'rate', 'unknown']);
export type LimitedBy = z.output<typeof limitedBySchema>;
