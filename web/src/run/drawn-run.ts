import type { Drawing } from '../graph/drawing'

/** A run as `GET /runs/{runId}/graph` tells it: what lists show, and the drawing of the version that it runs. */
export interface DrawnRun extends Drawing {
  readonly runId: string
  readonly workflow: string
  readonly workflowId: number
  readonly version: number
  readonly title: string | null
  readonly mode: 'DAG' | 'AGENTIC'
}
