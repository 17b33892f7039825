/**
 * Remembers which event ids were seen: the last `most` of them one by one, and of those before only the highest.
 *
 * Ids of a run only grow, so what is not above a forgotten id was seen, or comes too late to be told in its place.
 */
export class RecentIds {
  constructor(most = 500) {
    this._most = most
    /** In the order in which they came. @type {Set<number>} */
    this._recent = new Set()
    this._forgotten = 0
  }

  /**
   * @param {number} id From 1.
   * @returns {boolean} Whether it is new; from now on it is not.
   */
  add(id) {
    if (id <= this._forgotten || this._recent.has(id)) return false
    this._recent.add(id)
    if (this._recent.size > this._most) {
      const oldest = /** @type {number} */ (this._recent.values().next().value)
      this._recent.delete(oldest)
      this._forgotten = Math.max(this._forgotten, oldest)
    }
    return true
  }
}
