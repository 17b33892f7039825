/** @type {import('./index').Clock} */
export const systemClock = {
  now: () => Date.now(),
  setTimeout: (call, ms) => setTimeout(call, ms),
  clearTimeout: (timer) => clearTimeout(timer),
}

/**
 * Resolves after `ms`, or as soon as `signal` is aborted.
 * @param {import('./index').Clock} clock
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function sleep(clock, ms, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const wake = () => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = clock.setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
  })
}

/**
 * A signal that is aborted together with `signal`, or when nobody has called `alive` for so long.
 * @param {import('./index').Clock} clock
 * @param {AbortSignal} [signal]
 */
export function watch(clock, signal) {
  const controller = new AbortController()
  /** @type {any} */
  let timer = null
  const abort = () => controller.abort()
  if (signal && signal.aborted) abort()
  if (signal) signal.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    abort,
    /** @param {number} ms How long from now nobody need call it again. */
    alive(ms) {
      clock.clearTimeout(timer)
      timer = clock.setTimeout(abort, ms)
    },
    /** Stops watching; the signal stays as it is. */
    end() {
      clock.clearTimeout(timer)
      if (signal) signal.removeEventListener('abort', abort)
    },
  }
}
