import type { VisitStatus } from 'stepweave-client'
import { reactive } from 'vue'

/** What can be folded: the panels of a visit, and the group of them (`visit`). */
export type Panel = 'visit' | 'thinking' | 'todo' | 'tools' | 'log' | 'variables'

/** Open while the visit runs, folded once it has ended (seed §13.4); what people look up is folded from the start. */
function isOpenByItself(panel: Panel, status: VisitStatus): boolean {
  return status === 'running' && panel !== 'variables'
}

/** What people have opened and folded in one run. Their choice outlives the end of the visit. */
export class Folding {
  private readonly chosen = reactive(new Map<string, boolean>())

  isOpen(visitUuid: string, panel: Panel, status: VisitStatus): boolean {
    return this.chosen.get(`${visitUuid} ${panel}`) ?? isOpenByItself(panel, status)
  }

  choose(visitUuid: string, panel: Panel, open: boolean): void {
    this.chosen.set(`${visitUuid} ${panel}`, open)
  }
}
