/** Answers at zone cuts, compared with BIND, NSD and Knot DNS on the same zones, and validated where they are signed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ZoneStore } from '../../src/store/zone-store.ts';
import {
  askOver,
  type Reference,
  type SignedView,
  signedQuery,
  startReference,
  viewOf,
} from '../dnssec/reference.ts';
import { SIGNINGS, signZone } from '../dnssec/signed-zone.ts';
import { DELV, delv } from '../dnssec/validators.ts';
import { killAll, startServer } from '../support/server-process.ts';
import { tableReply } from './ask.ts';
import { NAMES, PARENT, storeOf, TYPES, writeZoneFiles, ZONES, type ZoneOnDisk } from './zones.ts';

const QUESTIONS = NAMES.flatMap((name) => TYPES.map((type) => ({ name, type })));

function ours(store: ZoneStore, name: string, type: string): SignedView {
  const message = signedQuery(name, type);
  return viewOf(tableReply(store, message), message.length - 11);
}

/** In a positive answer, servers add name servers and addresses as they like. */
function compared({ rcode, authoritative, answers, authorities, additionals }: SignedView): string {
  const isReferral = !authoritative && answers.length === 0;
  return JSON.stringify({
    rcode,
    authoritative,
    answers,
    authorities: answers.length > 0 ? [] : authorities,
    additionals: isReferral ? additionals : [],
  });
}

/** BIND leaves out addresses in a referral that the client can ask for. */
function isShorterReferral(own: SignedView, theirs: SignedView): boolean {
  const isFewer = theirs.additionals.every((text) => own.additionals.includes(text));
  return isFewer && compared({ ...own, additionals: [] }) === compared({ ...theirs, additionals: [] });
}

/** Differences of one server that the others do not share. */
function isExplained(reference: Reference, name: string, type: string): boolean {
  // NSD has one tree for all zones: a name that only the parent's side of a cut holds exists in the child.
  // It proves more where a wildcard itself is asked for, and less below an empty non-terminal in an opt-out span.
  if (reference === 'nsd')
    return [`old.child.${PARENT}`, `*.wild.${PARENT}`, `deep.${PARENT}`, `b.deep.${PARENT}`].includes(name);
  // The others do not follow a CNAME record into another zone.
  if (name === `back.child.${PARENT}` || name === `to-child.${PARENT}`) return true;
  // BIND sends a TTL of 0 with the SOA record in a denial of SOA.
  if (reference === 'named' && type === 'SOA') return true;
  // A zone that its parent does not delegate: NSD and we say that the names above it exist, the others do not.
  return name === 'b.alone.example' || name === 'a.b.alone.example';
}

interface Fault {
  readonly name: string;
  readonly type: string;
  readonly own: SignedView;
  readonly theirs: SignedView | undefined;
}

async function faultsBeside(
  reference: Reference,
  directory: string,
  zones: readonly ZoneOnDisk[],
  store: ZoneStore,
): Promise<Fault[]> {
  const running = await startReference(reference, directory, zones);
  try {
    const faults: Fault[] = [];
    for (const { name, type } of QUESTIONS) {
      const theirs = await askOver(running.port, name, type);
      const own = ours(store, name, type);
      const isSame =
        theirs !== undefined &&
        (compared(own) === compared(theirs) || (reference === 'named' && isShorterReferral(own, theirs)));
      if (!isSame && !isExplained(reference, name, type)) faults.push({ name, type, own, theirs });
    }
    return faults;
  } finally {
    await running.stop();
  }
}

describe('zones within zones', () => {
  let files: Awaited<ReturnType<typeof writeZoneFiles>>;
  beforeAll(async () => {
    files = await writeZoneFiles();
  });
  afterAll(() => files.remove());

  it.for(['nsd', 'knotd', 'named'] as const)(
    'are answered as by %s',
    {
      timeout: 60_000,
      ...needs('nsd', 'knotd', 'named'),
    },
    async (reference) => {
      const store = await storeOf(files.zones);
      const faults = await faultsBeside(reference, files.directory, files.zones, store);
      expect(faults.length, JSON.stringify(faults.slice(0, 2), null, 1)).toBe(0);
    },
  );
});

describe.for(SIGNINGS.filter(({ tool }) => tool === 'dnssec-signzone'))('signed with $name', (signing) => {
  describe('zones within zones', needs('dnssec-signzone', 'dnssec-keygen'), () => {
    let directory: string;
    let zones: ZoneOnDisk[];
    let anchor = '';
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'cuts-'));
      zones = [];
      for (const zone of [`grandchild.child.${PARENT}`, `child.${PARENT}`, PARENT]) {
        const records = (ZONES.get(zone) ?? '').replace(/^(grand)?child DS .*$/m, '');
        const signed = await signZone(signing, directory, { zone, records, isParent: true });
        zones.push({ zone, file: signed.file });
        anchor = signed.anchor;
      }
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    it.for(['nsd', 'knotd'] as const)(
      'are answered as by %s',
      {
        timeout: 60_000,
        ...needs('nsd', 'knotd'),
      },
      async (reference) => {
        const faults = await faultsBeside(reference, directory, zones, await storeOf(zones));
        expect(faults.length, JSON.stringify(faults.slice(0, 2), null, 1)).toBe(0);
      },
    );

    it('form a chain of trust from the parent, according to delv', {
      timeout: 60_000,
      ...needs('delv'),
    }, async () => {
      const args = zones.flatMap(({ zone, file }) => ['--zone', `${zone}=${file}`]);
      const { ready } = await startServer(args);
      try {
        const verdict = (name: string, type: string) =>
          delv(ready.port, directory, anchor, `${name}.${PARENT}`, type, PARENT);
        expect(await verdict('child', 'DS')).toMatch(DELV.answer);
        expect(await verdict('www.child', 'A')).toMatch(DELV.answer);
        expect(await verdict('ns.grandchild.child', 'A')).toMatch(DELV.answer);
        expect(await verdict('none.child', 'A')).toMatch(DELV.denial);
      } finally {
        await killAll();
      }
    });
  });
});
