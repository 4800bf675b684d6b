/** Answers from signed zones: compared with NSD and Knot DNS, and checked by two validators. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { DNSOverTCP, DNSOverUDP } from 'dinodns/common/network/index.js';
import { DefaultServer } from 'dinodns/common/server/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accelerate } from '../../src/framework/accelerate.ts';
import { loadZoneFile } from '../../src/store/load.ts';
import { ZoneStore } from '../../src/store/zone-store.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { freePort } from '../support/server-process.ts';
import { answerTo } from '../table/ask.ts';
import { chainReply } from '../table/chain.ts';
import { askOver, REFERENCES, type SignedView, signedQuery, startReference, viewOf } from './reference.ts';
import { NAMES, SIGNINGS, signZone, TYPES, ZONE } from './signed-zone.ts';
import { DELV, delv, INSECURE, UNBOUND, unboundHost, VALIDATED } from './validators.ts';

const QUESTIONS = NAMES.flatMap((name) =>
  TYPES.map((type) => ({ name: name === '' ? ZONE : `${name}.${ZONE}`, type })),
);

function ours(store: ZoneStore, name: string, type: string): SignedView {
  const message = signedQuery(name, type);
  const reply = answerTo(createAnswerTable(store), message, 'stream');
  if (typeof reply === 'number') throw new Error(`no reply to ${name} ${type}`);
  const chain = chainReply(store.handler, (response) => response.errors.refused(), message, 'stream');
  expect(chain).toEqual(reply);
  return viewOf(reply, message.length - 11);
}

/** Validators give up on an answer that is late, as on a busy machine; a wrong answer is wrong each time. */
const TRIES = 5;

/** What a validator says each time that is not right; null as soon as it is. */
async function saidInTime(
  say: () => Promise<string>,
  isRight: (text: string) => boolean,
): Promise<string | null> {
  let text = '';
  for (let tries = 0; tries < TRIES; tries++) {
    text = await say();
    if (isRight(text)) return null;
  }
  return text;
}

/** Without the additional section, which servers fill as they like. */
type SectionsView = Omit<SignedView, 'additionals'>;

/** NSD adds the zone's NS records to positive answers (`minimal-answers` of docs/differences.md). */
function withoutServers({ additionals: _, ...view }: SignedView): SectionsView {
  if (view.answers.length === 0) return view;
  const isServer = (text: string) => text.includes('"type":"ns"') || text.includes('"typecovered":"ns"');
  return { ...view, authorities: view.authorities.filter((text) => !isServer(text)) };
}

function hasAll(view: SectionsView, other: SectionsView): boolean {
  return other.authorities.every((text) => view.authorities.includes(text));
}

/** What differs for a reason; docs/conformance.md has these. */
function isExplained(
  reference: string,
  name: string,
  type: string,
  own: SectionsView,
  other: SectionsView,
): boolean {
  // Knot DNS does not follow aliases for NSEC, nor prove that a wildcard's was synthesised.
  if (reference === 'knotd') return type === 'NSEC';
  const isSame = own.rcode === other.rcode && JSON.stringify(own.answers) === JSON.stringify(other.answers);
  // NSD proves more than needed where a wildcard itself is asked for, and less behind a DNAME record.
  const isWildcard = name.startsWith('*.') && hasAll(other, own);
  return isSame && (isWildcard || (name.includes('old.') && hasAll(own, other)));
}

describe.for(SIGNINGS)('a zone signed with $name', (signing) => {
  describe('that we serve', needs(signing.tool, 'dnssec-keygen', 'nsd', 'knotd'), () => {
    let directory: string;
    let signed: Awaited<ReturnType<typeof signZone>>;
    let store: ZoneStore;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'ds-'));
      signed = await signZone(signing, directory);
      store = new ZoneStore();
      await loadZoneFile(store, signed.file, { origin: `${ZONE}.` });
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    it.for(REFERENCES)('is answered as by %s', { timeout: 60_000 }, async (reference) => {
      const running = await startReference(reference, directory, [{ zone: ZONE, file: signed.file }]);
      try {
        const faults: object[] = [];
        for (const { name, type } of QUESTIONS) {
          const theirs = await askOver(running.port, name, type);
          const own = withoutServers(ours(store, name, type));
          const other = theirs === undefined ? undefined : withoutServers(theirs);
          if (JSON.stringify(own) === JSON.stringify(other)) continue;
          if (other === undefined || !isExplained(reference, name, type, own, other))
            faults.push({ name, type, own, other });
        }
        expect(faults.length, JSON.stringify(faults.slice(0, 2), null, 1)).toBe(0);
      } finally {
        await running.stop();
      }
    });

    it('is valid according to delv and unbound-host', {
      ...needs('delv', 'unbound-host'),
      timeout: 120_000,
    }, async () => {
      const port = await freePort();
      const server = new DefaultServer({
        networks: [
          new DNSOverUDP({ address: '127.0.0.1', port }),
          new DNSOverTCP({ address: '127.0.0.1', port }),
        ],
      });
      server.use(store.handler);
      accelerate(server, store);
      await new Promise<void>((resolve) => server.start(() => resolve()));
      try {
        const faults: string[] = [];
        for (const { name, type, verdict } of VALIDATED) {
          const question = name === '' ? ZONE : `${name}.${ZONE}`;
          const isRight = (expected: RegExp) => (text: string) =>
            // In spans without signatures nothing that is not there can be proved (RFC 5155, section 9.2).
            expected.test(text) || (signing.name.includes('opt-out') && INSECURE.test(text));
          for (const [ask, expected] of [
            [delv, DELV[verdict]],
            [unboundHost, UNBOUND[verdict]],
          ] as const) {
            const say = () => ask(port, directory, signed.anchor, question, type);
            const text = await saidInTime(say, isRight(expected));
            if (text !== null) faults.push(`${question} ${type}: ${text}`);
          }
        }
        expect(faults).toEqual([]);
      } finally {
        server.stop();
      }
    });
  });
});
