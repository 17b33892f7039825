import { settled } from './fake-clock.js'

const encoder = new TextEncoder()

/**
 * A server that is played by a test. `fetch` is what the client gets; each request is answered by the function of its
 * path (`state`, `stream`, `events`, `resume`, `result`, `cancel`) that stands in `answers` at that moment.
 */
export class FakeServer {
  constructor() {
    this.requests = []
    this.answers = { state: () => ok({ runId: RUN, status: 'RUNNING', currentPause: null, pauses: [] }) }
    this.fetch = async (url, init) => {
      const path = new URL(url, 'http://server').pathname
      const name = /\/runs\/[^/]+$/.test(path) ? 'result' : path.split('/').pop()
      this.requests.push({ name, url, ...init, after: init.headers['Last-Event-ID'] })
      return this.answers[name]({ url, ...init })
    }
  }

  /** The requests of one kind. */
  asked(name) {
    return this.requests.filter((request) => request.name === name)
  }
}

export const RUN = 'a3f9b2c1'

export function ok(data) {
  return new Response(JSON.stringify({ code: 'OK', message: '', data }), {
    headers: { 'Content-Type': 'application/json' },
  })
}

export function refused(status, code, headers = {}) {
  const data = { runId: RUN, type: 'workflow_error', success: false, error: `it is ${code}`, code }
  return new Response(`event: workflow_error\ndata: ${JSON.stringify(data)}\n\n`, { status, headers })
}

export function unreachable() {
  throw new TypeError('fetch failed')
}

/** No answer, until the client gives up. */
export function never({ signal }) {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
  })
}

/** An open stream: `tell` sends text, `end` closes it, `cut` breaks it. */
export function openStream({ signal }, contentType = 'text/event-stream; charset=utf-8') {
  let controller
  const body = new ReadableStream({ start: (given) => (controller = given) })
  signal.addEventListener('abort', () => controller.error(new DOMException('aborted', 'AbortError')))
  return {
    response: new Response(body, { headers: { 'Content-Type': contentType } }),
    async tell(text) {
      controller.enqueue(encoder.encode(text))
      await settled()
    },
    async end() {
      controller.close()
      await settled()
    },
    async cut() {
      controller.error(new TypeError('terminated'))
      await settled()
    },
  }
}

/** A stream that is whole at once. */
export function wholeStream(text) {
  return new Response(encoder.encode(text), { headers: { 'Content-Type': 'text/event-stream' } })
}

/** Events as a stream tells them, numbered from `first`. */
export function told(events, first = 1) {
  return events
    .map((event, index) => `event: ${event.type}\nid: ${first + index}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}
