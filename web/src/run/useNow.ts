import { onScopeDispose, ref, type Ref } from 'vue'

const TICK_MS = 200

/** The present moment in milliseconds, which moves while `isGoing` says so. */
export function useNow(isGoing: () => boolean): Ref<number> {
  const now = ref(Date.now())
  const timer = window.setInterval(() => {
    if (isGoing()) now.value = Date.now()
  }, TICK_MS)
  onScopeDispose(() => window.clearInterval(timer))
  return now
}
