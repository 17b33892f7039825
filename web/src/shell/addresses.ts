/** What an address below `/ui` leads to. */
export type Place =
  | { page: 'workflows' }
  | { page: 'workflow'; workflow: string; tab: Tab }
  | { page: 'run'; runId: string }

export type Route = Place | { page: 'nothing' }

export type Tab = 'start' | 'runs' | 'definition'

const BASE = '/ui'
const TABS: readonly Tab[] = ['start', 'runs', 'definition']

export function parseRoute(path: string): Route {
  const [first, second, third, ...rest] = path.slice(BASE.length).split('/').filter(Boolean).map(decoded)
  if (first === undefined) return { page: 'workflows' }
  if (rest.length === 0 && first === 'workflows' && second !== undefined) {
    const tab = third === undefined ? 'start' : TABS.find((each) => each === third)
    if (tab !== undefined) return { page: 'workflow', workflow: second, tab }
  }
  if (first === 'workflows' && second === undefined) return { page: 'workflows' }
  if (first === 'runs' && second !== undefined && third === undefined) return { page: 'run', runId: second }
  return { page: 'nothing' }
}

export function pathOf(route: Place): string {
  switch (route.page) {
    case 'workflows':
      return BASE
    case 'workflow': {
      const path = `${BASE}/workflows/${encodeURIComponent(route.workflow)}`
      return route.tab === 'start' ? path : `${path}/${route.tab}`
    }
    case 'run':
      return `${BASE}/runs/${encodeURIComponent(route.runId)}`
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
