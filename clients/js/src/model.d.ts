// A run as the client knows it. Times are milliseconds since 1970, by the clock of this machine unless the server told
// them.

export type Answer = string | string[]
export type RunStatus = 'idle' | 'running' | 'completed' | 'failed'
export type VisitStatus = 'running' | 'completed' | 'failed' | 'skipped'

export interface Run {
  readonly runId: string
  readonly status: RunStatus
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** In `sortOrder`, and behind them those that have not ended, as they came. */
  readonly visits: readonly Visit[]
  /** Of an AGENTIC run, in their order. */
  readonly plannerDecisions: readonly Decision[]
  readonly output: Envelope | null
  /** Where an output lies that is too large for an event. */
  readonly outputUrl: string | null
  readonly workingDirFiles: readonly string[]
  readonly error: string | null
  readonly failedNodeId: string | null
}

/** One execution of a node. */
export interface Visit {
  readonly visitUuid: string
  readonly runId: string
  readonly nodeId: string
  readonly nodeType: string | null
  readonly nodeName: string | null
  /** Counts the visits of the node, from 1. */
  readonly iterSeq: number
  /** The place among the visits of the run; null until it has ended. */
  readonly sortOrder: number | null
  readonly fromVisitUuid: string | null
  readonly fromNodeId: string | null
  /** Done by a planner beside the palette. */
  readonly offCanvas: boolean
  /** The planner's decision that led here, or what a `condition` decided. */
  readonly decision: Decision | null
  readonly status: VisitStatus
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** What is going on, in a line; empty once the visit has ended. */
  readonly liveStatus: string
  /** The number of the present request to the model, from 1; 0 before the first. */
  readonly step: number
  readonly thinking: string
  readonly todoList: readonly Todo[]
  readonly toolCalls: readonly ToolCall[]
  readonly logs: readonly LogEntry[]
  /** All questions that were put to a person. */
  readonly asks: readonly Ask[]
  /** The last of them; open while its `submittedAt` is null. */
  readonly pendingAsk: Ask | null
  /** What the node itself resolved; null until it has ended. */
  readonly variables: Readonly<Record<string, any>> | null
  readonly output: Envelope | null
  readonly outputUrl: string | null
  readonly error: string | null
  /** The end of the run cut it short. */
  readonly stopped: boolean
}

export interface Envelope {
  status: number
  message: string
  data: any
  metadata?: Record<string, any>
}

export interface Decision {
  next?: string | null
  reason?: string
  isFinal?: boolean
  [name: string]: any
}

export interface Todo {
  text: string
  status: string
}

export interface ToolCall {
  readonly toolName: string
  readonly arguments: any
  readonly status: 'running' | 'completed' | 'failed'
  /** null until it has come. */
  readonly result: any
  readonly startedAt: number
  readonly endedAt: number | null
}

export interface LogEntry {
  readonly type: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly message: string
  readonly detail: string | null
}

export interface Option {
  label: string
  value: string
}

export interface Ask {
  readonly clarifyId: string
  /** Markdown. */
  readonly question: string
  readonly options: readonly Option[]
  readonly allowCustom: boolean
  readonly placeholder: string
  readonly multiple: boolean
  /** When it was answered, here or elsewhere. */
  readonly submittedAt: number | null
  readonly submittedValue: Answer | null
  /** The run has told the answer. */
  readonly confirmed: boolean
}
