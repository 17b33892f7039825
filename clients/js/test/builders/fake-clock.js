/** A clock that stands still until a test sets it forward; what was due on the way is called in its order. */
export class FakeClock {
  constructor() {
    this.time = 0
    this.timers = new Map()
    this._lastId = 0
  }

  now() {
    return this.time
  }

  setTimeout(call, ms) {
    this._lastId += 1
    this.timers.set(this._lastId, { at: this.time + ms, call })
    return this._lastId
  }

  clearTimeout(id) {
    this.timers.delete(id)
  }

  async advance(ms) {
    const until = this.time + ms
    for (;;) {
      await settled()
      const [next] = [...this.timers].filter(([, { at }]) => at <= until).sort((one, other) => one[1].at - other[1].at)
      if (next === undefined) break
      const [id, { at, call }] = next
      this.timers.delete(id)
      this.time = at
      call()
    }
    this.time = until
    await settled()
  }
}

/** Everything that only waits for promises has happened. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
