/** Changes at a rate: headless Services are created, and after a while deleted, so that few exist at the same time. */
import { now } from './services.mjs';

/** Requests in flight: with 4, an API server that takes 40 ms for each still makes 100 changes a second. */
const MAX_IN_FLIGHT = 4;
const MAX_LIVE = 20;
const TICK_MS = 5;

/** Begins at once. `prefix` keeps the names of one churn apart from those of the next. */
export function startChurn({ services, perSecond, prefix, onFailure }) {
  const live = [];
  const inFlight = new Set();
  let done = 0;
  let number = 0;
  let nextAt = now();
  async function change() {
    if (live.length < MAX_LIVE) {
      const name = `${prefix}-${number}`;
      number += 1;
      await services.create(name, { headless: true });
      live.push(name);
    } else await services.remove(live.shift());
    done += 1;
  }
  const tick = () => {
    while (inFlight.size < MAX_IN_FLIGHT && now() >= nextAt) {
      // Time that was lost is not made up for: that would be a burst.
      nextAt = Math.max(nextAt + 1 / perSecond, now() - 2 * (TICK_MS / 1000));
      const changing = change()
        .catch(onFailure)
        .finally(() => inFlight.delete(changing));
      inFlight.add(changing);
    }
  };
  const timer = perSecond === 0 ? undefined : setInterval(tick, TICK_MS);
  return {
    /** Changes that the API server has confirmed. */
    get done() {
      return done;
    },
    /** Deletes what is left of it. */
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
      for (const name of live.splice(0)) await services.remove(name);
    },
  };
}
