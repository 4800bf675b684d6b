/** The server is away for a while: nothing listens at its port. When it is back, it knows nothing of earlier versions. */
import type { Server } from 'node:http';

/** For the answer to whoever asked for it. */
const LEAD_MILLISECONDS = 20;

/** Between attempts to listen again: another program may have the port for a moment. */
const RETRY_MILLISECONDS = 100;

export const MAX_OUTAGE_SECONDS = 3600;

export class Outage {
  readonly #server: Server;
  readonly #listen: () => void;
  readonly #onBack: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onBack` is called just before it listens again. */
  constructor(server: Server, listen: () => void, onBack: () => void) {
    this.#server = server;
    this.#listen = listen;
    this.#onBack = onBack;
    server.on('error', () => this.#after(RETRY_MILLISECONDS, () => this.#listen()));
  }

  /** Replaces one that is under way. */
  begin(seconds: number): void {
    this.#after(LEAD_MILLISECONDS, () => {
      this.#server.close();
      this.#server.closeAllConnections();
      this.#after(seconds * 1000, () => {
        this.#onBack();
        this.#listen();
      });
    });
  }

  /** It does not come back. */
  cancel(): void {
    clearTimeout(this.#timer);
  }

  #after(milliseconds: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, milliseconds);
  }
}
