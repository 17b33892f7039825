const LINE_END = /\r\n|\n|\r/g

/**
 * Reads server-sent events out of bytes, wherever these are cut: inside a character, or between CR and LF.
 *
 * A message that no empty line has followed yet is not given: what a broken connection leaves behind is no message.
 */
export class EventStreamParser {
  constructor() {
    /** The last `retry:` that came, in milliseconds. @type {number | null} */
    this.retryMs = null
    this._decoder = new TextDecoder()
    /** The line that has not ended yet. @type {string[]} */
    this._line = []
    this._endedWithReturn = false
    /** @type {string | null} */
    this._id = null
    this._event = ''
    /** @type {string[]} */
    this._data = []
  }

  /**
   * @param {Uint8Array} bytes
   * @returns {import('./index').Message[]} The messages that `bytes` completes; a comment is none.
   */
  feed(bytes) {
    let text = this._decoder.decode(bytes, { stream: true })
    if (text === '') return []
    if (this._endedWithReturn && text.startsWith('\n')) text = text.slice(1)
    const messages = []
    let from = 0
    for (const end of text.matchAll(LINE_END)) {
      this._line.push(text.slice(from, end.index))
      from = /** @type {number} */ (end.index) + end[0].length
      const message = this._take(this._line.join(''))
      this._line = []
      if (message) messages.push(message)
    }
    this._line.push(text.slice(from))
    this._endedWithReturn = text.endsWith('\r')
    return messages
  }

  /** @param {string} line */
  _take(line) {
    if (line === '') return this._dispatch()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this._data.push(value)
    else if (field === 'event') this._event = value
    else if (field === 'id' && !value.includes('\0')) this._id = value
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
    return null
  }

  _dispatch() {
    const message = { id: this._id, event: this._event || 'message', data: this._data.join('\n') }
    const isEmpty = this._data.length === 0
    this._id = null
    this._event = ''
    this._data = []
    return isEmpty ? null : message
  }
}
