import type { Run } from 'stepweave-client'
import { told } from './shell/server'

/**
 * What the page tells the page that frames it, and takes from it; origins that the deployment has not named neither hear
 * nor are heard.
 *
 * - `{type: 'stepweave:height', height}`: how tall the content is, in CSS pixels
 * - `{type: 'stepweave:state', runId, status, waiting}`: `status` as in `Run`, `waiting` the number of open questions
 * - `{type: 'stepweave:token-expired', runId}`: the parent may answer `{type: 'stepweave:token', viewToken}`
 */
export function tellParent(message: Record<string, unknown>): void {
  if (window.parent === window) return
  for (const origin of told.embedOrigins) window.parent.postMessage(message, origin)
}

export function tellState(run: Run, waiting: number): void {
  tellParent({ type: 'stepweave:state', runId: run.runId, status: run.status, waiting })
}

/** Tells the height of `element` whenever it changes. Gives what ends that. */
export function tellHeight(element: HTMLElement): () => void {
  const watcher = new ResizeObserver(() => {
    tellParent({ type: 'stepweave:height', height: Math.ceil(element.getBoundingClientRect().height) })
  })
  watcher.observe(element)
  return () => watcher.disconnect()
}

/** Hears fresh view tokens from the parent. Gives what ends that. */
export function hearTokens(take: (viewToken: string) => void): () => void {
  const hear = ({ origin, source, data }: MessageEvent) => {
    if (source !== window.parent || !told.embedOrigins.includes(origin)) return
    if (data?.type === 'stepweave:token' && typeof data.viewToken === 'string') take(data.viewToken)
  }
  window.addEventListener('message', hear)
  return () => window.removeEventListener('message', hear)
}
