import type { Answer, Api, Connection, Run, Visit } from 'stepweave-client'
import { RunController } from 'stepweave-client'
import { nextTick, onScopeDispose, shallowRef, type ShallowRef } from 'vue'

/** A run as a page shows it: what the client knows, told at most once a frame however many events come. */
export interface FollowedRun {
  readonly run: ShallowRef<Run | null>
  readonly visits: ShallowRef<readonly Visit[]>
  /** The visits with an open question. */
  readonly waiting: ShallowRef<readonly Visit[]>
  readonly missedEvents: ShallowRef<number>
  readonly connection: ShallowRef<Connection>
  readonly banner: ShallowRef<string | null>
  /** Why the server refuses to show the run. */
  readonly refusal: ShallowRef<unknown>
  answer(clarifyId: string, answer: Answer): Promise<void>
  cancel(): Promise<unknown>
  /** Once more, after a refusal. */
  follow(): void
}

const HIDDEN_MS = 250
const MOST_PAUSE_MS = 100

/** Follows a run for as long as the calling component lives. `workflow`: its name, out of which times are known. */
export function useRun(api: Api, runId: string, workflow: string): FollowedRun {
  const run = shallowRef<Run | null>(null)
  const visits = shallowRef<readonly Visit[]>([])
  const waiting = shallowRef<readonly Visit[]>([])
  const missedEvents = shallowRef(0)
  const connection = shallowRef<Connection>('idle')
  const banner = shallowRef<string | null>(null)
  const refusal = shallowRef<unknown>(null)
  let isAsked = false
  /** How long the page is left alone between two drawings, in milliseconds: twice what the last one took. */
  let pause = 0

  const controller = new RunController(runId, {
    api,
    workflow,
    onStateChange: ask,
    onBannerChange(text, state) {
      banner.value = text
      connection.value = state
    },
  })

  /** A page in the background draws no frames, but tells its parent what happens. */
  function ask() {
    if (isAsked) return
    isAsked = true
    if (document.hidden) window.setTimeout(tell, HIDDEN_MS)
    else window.setTimeout(() => requestAnimationFrame(tell), pause)
  }

  function tell() {
    isAsked = false
    const began = performance.now()
    const { store } = controller
    run.value = store.run
    visits.value = store.run.visits
    waiting.value = store.waiting
    missedEvents.value = store.missedEvents
    void nextTick(() => (pause = Math.min(MOST_PAUSE_MS, 2 * (performance.now() - began))))
  }

  function follow() {
    refusal.value = null
    controller.start().catch((error: unknown) => (refusal.value = error))
  }

  follow()
  onScopeDispose(() => controller.destroy())
  return {
    run,
    visits,
    waiting,
    missedEvents,
    connection,
    banner,
    refusal,
    answer: (clarifyId, answer) => controller.submitAsk(clarifyId, answer).finally(tell),
    cancel: () => controller.cancel(),
    follow,
  }
}
