import { computed, ref } from 'vue'
import { parseRoute, pathOf, type Place } from './addresses'

const path = ref(location.pathname)

/** The route that the address bar shows. */
export const route = computed(() => parseRoute(path.value))

export function go(to: Place): void {
  history.pushState(null, '', pathOf(to))
  path.value = location.pathname
  window.scrollTo(0, 0)
}

window.addEventListener('popstate', () => (path.value = location.pathname))
