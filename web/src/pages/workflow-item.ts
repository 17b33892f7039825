import type { InputField } from '../start/fields'

/** A workflow as `GET /workflows` lists it. */
export interface WorkflowItem {
  readonly id: number
  readonly name: string
  readonly title: string | null
  readonly description: string
  readonly inputs: readonly InputField[]
  readonly outputs: readonly { name: string; type: string; description?: string }[]
}
