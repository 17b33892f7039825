import { describe, expect, it } from 'vitest'
import { parseRoute, pathOf, type Place } from '../src/shell/addresses'

const PLACES: Place[] = [
  { page: 'workflows' },
  { page: 'workflow', workflow: 'research-report', tab: 'start' },
  { page: 'workflow', workflow: '12', tab: 'runs' },
  { page: 'workflow', workflow: 'a b', tab: 'definition' },
  { page: 'run', runId: 'a3f9b2c1' },
]

describe('addresses', () => {
  it.each(PLACES)('of %o lead there', (place) => {
    expect(parseRoute(pathOf(place))).toEqual(place)
  })

  it('may end with a slash', () => {
    expect(parseRoute('/ui/')).toEqual({ page: 'workflows' })
    expect(parseRoute('/ui/runs/a3f9b2c1/')).toEqual({ page: 'run', runId: 'a3f9b2c1' })
  })

  it.each(['/ui/nothing', '/ui/runs', '/ui/runs/a/b', '/ui/workflows/a/b', '/ui/workflows/a/runs/b'])(
    'such as %s lead nowhere',
    (path) => {
      expect(parseRoute(path)).toEqual({ page: 'nothing' })
    },
  )

  it('with a broken escape are taken as they stand', () => {
    expect(parseRoute('/ui/runs/%E0%A4%A')).toEqual({ page: 'run', runId: '%E0%A4%A' })
  })
})
