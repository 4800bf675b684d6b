/** Records in Redis: one hash, `dns:records`, with a field per name. A fill builds another hash and renames it. */
import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { DatabaseStore, type DatabaseStoreOptions } from './database-store.ts';

const KEY = 'dns:records';
/** Fields in one command when filling. */
const BATCH = 1000;
/** After this long, Redis removes what a killed fill left. */
const FILL_SECONDS = 3600;
/** Commands that may wait for Redis; more than questions may, so that a check always fits. */
const MAX_COMMANDS = 10_000;
const CONNECT_MILLISECONDS = 2000;
const RECONNECT_MILLISECONDS = 100;
/** A fill ends if Redis gives no sign of life for this long, or is not there for some 5 s. */
const FILL_RETRIES = 50;
const NOT_STARTED = new Set(['ECONNREFUSED', 'ENOENT']);
const FILL_HANGS_MILLISECONDS = 10_000;

/** `HOST:PORT`, `HOST` or the path of a Unix socket. */
function socketOf(place: string) {
  if (place.startsWith('/')) return { path: place };
  const [, host, port] = /^(.+):(\d+)$/.exec(place) ?? [];
  return { host: host ?? place, port: Number(port ?? 6379) };
}

function clientOf(place: string, isFilling: boolean) {
  return createClient({
    // A command fails at once while Redis is away: a queue would only delay the SERVFAIL.
    disableOfflineQueue: !isFilling,
    commandsQueueMaxLength: MAX_COMMANDS,
    socket: {
      ...socketOf(place),
      connectTimeout: CONNECT_MILLISECONDS,
      ...(isFilling
        ? {
            socketTimeout: FILL_HANGS_MILLISECONDS,
            // Redis may be starting at the same time.
            reconnectStrategy: (retries, { code }: NodeJS.ErrnoException) =>
              retries < FILL_RETRIES && NOT_STARTED.has(code ?? '') ? RECONNECT_MILLISECONDS : false,
          }
        : { reconnectStrategy: RECONNECT_MILLISECONDS }),
    },
  });
}

export class RedisStore extends DatabaseStore {
  readonly #place: string;
  #client: ReturnType<typeof clientOf>;

  /** Connects in the background, and again whenever the connection is lost. */
  constructor(place: string, options?: DatabaseStoreOptions) {
    super(options);
    this.#place = place;
    this.#client = this.#connect();
  }

  #connect() {
    const client = clientOf(this.#place, false);
    client.on('error', () => {
      // The client connects again by itself, but goes on after a reply that it cannot read: later replies could then
      // belong to other questions.
      if (client.isReady && client === this.#client) this.reopen();
    });
    client.connect().catch(() => undefined);
    return client;
  }

  protected override async read(keys: readonly string[]): Promise<readonly (string | null)[]> {
    const reply: unknown = await this.#client.hmGet(KEY, [...keys]);
    if (Array.isArray(reply) && reply.length === keys.length) return reply;
    throw new Error(`Redis gave no list of ${keys.length} texts.`);
  }

  protected override reopen(): void {
    this.#client.destroy();
    this.#client = this.#connect();
  }

  override close(): void {
    super.close();
    this.#client.destroy();
  }
}

/** Replaces the content at once for all readers. If it fails, Redis keeps what it had. */
export async function fillRedis(place: string, entries: ReadonlyMap<string, string>): Promise<void> {
  const client = clientOf(place, true);
  client.on('error', () => undefined);
  await client.connect();
  const filling = `${KEY}:${randomUUID()}`;
  try {
    const pairs = [...entries];
    for (let start = 0; start < pairs.length; start += BATCH) {
      const batch = Object.fromEntries(pairs.slice(start, start + BATCH));
      await client.multi().hSet(filling, batch).expire(filling, FILL_SECONDS).exec();
    }
    const [size, kept] = [await client.hLen(filling), await client.persist(filling)];
    if (size !== entries.size || kept !== 1) {
      throw new Error(`Redis holds ${size} of ${entries.size} entries: something else removes keys.`);
    }
    // UNLINK frees the old hash in the background.
    await client.multi().unlink(KEY).rename(filling, KEY).exec();
  } catch (error) {
    if (client.isReady) await client.unlink(filling).catch(() => undefined);
    throw error;
  } finally {
    client.destroy();
  }
}
