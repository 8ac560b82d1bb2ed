/** While somebody steps: what is looked at follows at once, everything else when the steps pause. */

/** After a single step the rest follows this soon: a frame later, for the eye at once. */
const SINGLE_MS = 40;
/** While a key is held, the rest waits for the end of it. */
const PAUSE_MS = 160;
/** Steps closer to each other than this belong to one movement. */
const HELD_MS = 400;
/** So does the kernel hear of it: to the notebook around the page, each message costs two frames. */
const TELL_HELD_MS = 110;

/**
 * @typedef {{
 *   stepped: (calm: Iterable<() => void>) => void, done: (callback: () => void) => void,
 *   settle: () => void, tellSoon: (n: number) => void, tell: () => void,
 *   untold: () => number | null,
 * }} Pace
 *   `stepped` takes what a step leaves for the pause, `done` what was carried out otherwise.
 *   `settle` carries out now what waits, before something relies on it; `tell` tells the kernel;
 *   `untold` is the turn that it has yet to be told of.
 */

/** @param {() => void} save tells the kernel @param {AbortSignal} signal @returns {Pace} */
export function makePace(save, signal) {
  /** @type {Set<() => void>} */
  const waiting = new Set();
  let last = -Infinity;
  let pause = 0;
  let telling = 0;
  /** @type {number | null} */
  let untold = null;

  function settle() {
    clearTimeout(pause);
    const now = [...waiting];
    waiting.clear();
    if (!signal.aborted) for (const callback of now) callback();
  }

  function tell() {
    if (untold === null) return;
    clearTimeout(telling);
    untold = null;
    save();
  }

  signal.addEventListener('abort', () => { clearTimeout(pause); tell(); });
  return {
    stepped(calm) {
      for (const callback of calm) waiting.add(callback);
      const now = performance.now();
      clearTimeout(pause);
      pause = setTimeout(settle, now - last < HELD_MS ? PAUSE_MS : SINGLE_MS);
      last = now;
    },
    done: (callback) => { waiting.delete(callback); },
    settle,
    tellSoon(n) {
      untold = n;
      clearTimeout(telling);
      telling = setTimeout(tell, performance.now() - last < HELD_MS ? TELL_HELD_MS : SINGLE_MS);
    },
    tell,
    untold: () => untold,
  };
}
