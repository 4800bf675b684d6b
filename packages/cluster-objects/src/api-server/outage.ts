/** The server is away for a while: nothing listens at its port. When it is back, it knows nothing of earlier versions. */
import type { Server } from 'node:http';

/** For the answer to whoever asked for it. */
const LEAD_MILLISECONDS = 20;

/** Between attempts to listen again: another program may have the port for a moment. */
const RETRY_MILLISECONDS = 100;

export const MAX_OUTAGE_SECONDS = 3600;

/** `listen` makes the server listen, and `onBack` is called just before it listens again. */
export function outageOf(server: Server, listen: () => void, onBack: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const after = (milliseconds: number, action: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
  server.on('error', () => after(RETRY_MILLISECONDS, listen));
  return {
    /** Replaces one that is under way. */
    begin(seconds: number): void {
      after(LEAD_MILLISECONDS, () => {
        server.close();
        server.closeAllConnections();
        after(seconds * 1000, () => {
          onBack();
          listen();
        });
      });
    },
    /** It does not come back. */
    cancel: () => clearTimeout(timer),
  };
}
