/** What a store says about one question: code, authority and the three sections. */
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { canonicalName } from '../wire/names.ts';
import { encodeSections, type Records, type Sections } from '../wire/sections.ts';

export interface Found extends Records {
  readonly rcode: number;
  readonly authoritative: boolean;
}

export interface StoredAnswer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly sections: Sections;
}

/** Encodes what was found for the question `owner`, for as long as the store does not change. */
export function compile(found: Found, owner: string | null): StoredAnswer {
  const { rcode, authoritative, answers, authorities, additionals } = found;
  for (const section of [answers, authorities, additionals]) Object.freeze(section);
  const sections = encodeSections({ answers, authorities, additionals }, owner);
  return { rcode, authoritative, sections };
}

/** The answer of the wildcard `wildcard` as the answer for `name`: same octets, other owner in the records. */
export function synthesise(answer: StoredAnswer, wildcard: string, name: string): StoredAnswer {
  const rename = (record: SupportedAnswer): SupportedAnswer =>
    canonicalName(record.name) === wildcard ? { ...record, name } : record;
  const { sections } = answer;
  return {
    ...answer,
    sections: { ...sections, answers: Object.freeze(sections.answers.map(rename)) },
  };
}
