/**
 * A DinoDNS store whose records are in a database. It asks once per question, and once more per link of a CNAME chain:
 * for the name, the names above it and the wildcards that could match (RFC 1034, section 4.3.2; RFC 4592). It keeps
 * nothing between questions, so a change in the database is in the next answer.
 *
 * The database holds one JSON text per name (`entries.ts`). A subclass says how to read them: `redis-store.ts`,
 * `sqlite-store.ts`.
 */
import { Store } from 'dinodns/plugins/storage/index.js';
import type { SupportedAnswer, SupportedRecordType, ZoneData } from 'dinodns/types/dns.js';
import type { DNSRequest, DNSResponse, Handler } from 'dinodns/types/server.js';
import { canonicalName, FILLED, type RecordSet, type Sets, setsOf } from './entries.ts';

const RCODE = { noError: 0, serverFailure: 2, nameError: 3 } as const;
/** AA, and the bits of the response code (RFC 1035, section 4.1.1). */
const AUTHORITATIVE = 0x0400;
const RCODE_BITS = 0x000f;

/** A longer chain of CNAME records is treated as a loop. */
const MAX_CHAIN = 8;
/** Questions that may wait for the database at once; the next ones get SERVFAIL, so that memory stays bounded. */
const MAX_WAITING = 1000;
/** Resolvers ask again after 5 s (resolv.conf(5)): answer SERVFAIL before that. */
const DEADLINE_SECONDS = 2;
const CHECK_SECONDS = 1;

export interface DatabaseStoreOptions {
  /** Default: 1000. */
  readonly maxWaiting?: number;
  /** Default: 2. */
  readonly deadlineSeconds?: number;
}

interface Answer {
  readonly rcode: number;
  readonly answers: readonly SupportedAnswer[];
  readonly authorities: readonly SupportedAnswer[];
}

/** Where a name is: its zone, and its own records; null if it does not exist. */
interface Place {
  readonly apex: string;
  readonly soa: RecordSet;
  readonly sets: Sets | null;
}

function recordsOf(name: string, type: string, { ttl, data }: RecordSet): SupportedAnswer[] {
  // `SupportedAnswer` is a union over all types; the data is what the zones held.
  return data.map((item) => ({ name, type, ttl, class: 'IN', data: item }) as SupportedAnswer);
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. */
function withParents(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_label, index) => labels.slice(index).join('.'));
}

/** RFC 2308, section 3: with the SOA record, whose TTL is at most its `minimum`. */
function negative(rcode: number, answers: readonly SupportedAnswer[], { apex, soa }: Place): Answer {
  const authorities = recordsOf(apex, 'SOA', soa).map((record) => {
    const minimum = record.type === 'SOA' ? (record.data.minimum ?? soa.ttl) : soa.ttl;
    return { ...record, ttl: Math.min(soa.ttl, minimum) };
  });
  return { rcode, answers, authorities };
}

function withinSeconds<T>(promise: Promise<T>, seconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The database did not answer within ${seconds} s.`));
    const timer = setTimeout(late, seconds * 1000);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Emits `lost` with an `Error` when the database stops answering, and `back` when it answers again. Until then every
 * question gets SERVFAIL.
 */
export abstract class DatabaseStore extends Store {
  readonly #maxWaiting: number;
  readonly #deadlineSeconds: number;
  readonly #timer: NodeJS.Timeout;
  #waiting = 0;
  #isChecking = false;
  #isLost = false;

  constructor({ maxWaiting = MAX_WAITING, deadlineSeconds = DEADLINE_SECONDS }: DatabaseStoreOptions = {}) {
    super();
    this.#maxWaiting = maxWaiting;
    this.#deadlineSeconds = deadlineSeconds;
    this.#timer = setInterval(() => void this.#watch(), CHECK_SECONDS * 1000).unref();
  }

  /** The texts of these keys in the same order, null where there is none; all from the same state of the database. */
  protected abstract read(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Called after a failed check: whatever may hang or be out of step must be opened again. */
  protected abstract reopen(): void;

  close(): void {
    clearInterval(this.#timer);
  }

  /** Rejects with the reason if the database does not answer or was never filled. */
  async check(): Promise<void> {
    await withinSeconds(this.#entries([]), this.#deadlineSeconds);
  }

  async #watch(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      await this.check();
      if (this.#isLost) this.emit('back');
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost) this.emit('lost', error);
      this.#isLost = true;
      this.reopen();
    } finally {
      this.#isChecking = false;
    }
  }

  async #entries(names: readonly string[]): Promise<readonly (Sets | null)[]> {
    const [filled, ...texts] = await this.read([FILLED, ...names]);
    if (typeof filled !== 'string') throw new Error('The database is not filled. Run fill.ts.');
    return texts.map((text) => (text === null ? null : setsOf(text)));
  }

  /** Null if the name is outside of all zones. */
  async #place(name: string): Promise<Place | null> {
    const path = withParents(name);
    const found = await this.#entries([...path, ...path.slice(1).map((parent) => `*.${parent}`)]);
    const depth = path.findIndex((_name, index) => found[index]?.SOA !== undefined);
    const [apex, soa] = [path[depth], found[depth]?.SOA];
    if (apex === undefined || soa === undefined) return null;
    // RFC 4592, section 3.3.1: only the wildcard at the closest name that exists counts.
    const closest = path.findIndex((_name, index) => found[index] !== null);
    const sets = closest === 0 ? found[0] : found[path.length + closest - 1];
    return { apex, soa, sets: sets ?? null };
  }

  async #lookUp(name: string, type: string): Promise<Answer | null> {
    const answers: SupportedAnswer[] = [];
    for (let owner = name; ; ) {
      const place = await this.#place(canonicalName(owner));
      if (place === null)
        return answers.length === 0 ? null : { rcode: RCODE.noError, answers, authorities: [] };
      const { sets } = place;
      if (sets === null) return negative(RCODE.nameError, answers, place);
      const found = Object.entries(sets).filter(([each]) => type === 'ANY' || type === each);
      for (const [each, set] of found) answers.push(...recordsOf(owner, each, set));
      if (found.length > 0) return { rcode: RCODE.noError, answers, authorities: [] };
      const target = sets.CNAME?.data[0];
      if (sets.CNAME === undefined || typeof target !== 'string')
        return negative(RCODE.noError, answers, place);
      answers.push(...recordsOf(owner, 'CNAME', sets.CNAME));
      if (answers.length > MAX_CHAIN) return { rcode: RCODE.serverFailure, answers: [], authorities: [] };
      owner = target;
    }
  }

  async #answer(request: DNSRequest, response: DNSResponse): Promise<boolean> {
    const question = request.packet.raw.questions?.[0];
    if (question === undefined) return false;
    const found = this.#lookUp(question.name, question.type);
    const answer = await withinSeconds(found, this.#deadlineSeconds);
    if (answer === null) return false;
    response.packet.flags = (response.packet.flags & ~RCODE_BITS) | AUTHORITATIVE | answer.rcode;
    response.packet.raw.answers = [...answer.answers];
    response.packet.raw.authorities = [...answer.authorities];
    response.resolve();
    return true;
  }

  /** Answers for the zones in the database, and leaves other names to the next handler. */
  override readonly handler: Handler = (request, response, next) => {
    if (this.#waiting >= this.#maxWaiting) {
      response.errors.serverFailure();
      return;
    }
    this.#waiting++;
    this.#answer(request, response)
      .then(
        (isAnswered) => {
          if (!isAnswered) next();
        },
        () => response.errors.serverFailure(),
      )
      .finally(() => {
        this.#waiting--;
      });
  };

  override async get<T extends SupportedRecordType>(name: string, type?: T): Promise<ZoneData[T][] | null> {
    const [sets] = await withinSeconds(this.#entries([canonicalName(name)]), this.#deadlineSeconds);
    if (sets === null || sets === undefined) return null;
    const data = type === undefined ? Object.values(sets).flatMap((set) => set.data) : sets[type]?.data;
    return data === undefined ? null : ([...data] as ZoneData[T][]);
  }

  override set(): Promise<void> {
    return Promise.reject(new Error('This store only reads. Change the zones and run fill.ts.'));
  }

  override append(): Promise<void> {
    return this.set();
  }

  override delete(): Promise<void> {
    return this.set();
  }
}
