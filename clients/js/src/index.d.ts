// What the package gives. The shapes of its data are in model.d.ts.

import type { Answer, Envelope, Option, Run, Visit } from './model.js'

export * from './model.js'

/**
 * `idle` before `start`; `connecting`, then `live` while a stream stands; `reconnecting` while a lost one is tried again;
 * `polling` after five tries; `ended` with the run; `refused` by the server (`start` rejects); `closed` by `destroy`.
 */
export type Connection = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'polling' | 'ended' | 'refused' | 'closed'

export interface Clock {
  now(): number
  setTimeout(call: () => void, ms: number): unknown
  clearTimeout(timer: any): void
}

/** The secret, or what gives a fresh one: it is asked before every request. */
export type Credential = string | (() => string | Promise<string>)

export interface ApiOptions {
  /** Up to and with `/api/v1`; or where a proxy answers in its place. Default: `/api/v1` of the same origin. */
  baseUrl?: string
  /** An API key; for servers, not for pages. */
  apiKey?: Credential
  /** A view token, which reads one run. Stands above `apiKey`. */
  viewToken?: Credential
  /** Of messages and banners. Default: `zh`. */
  language?: 'zh' | 'en'
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  clock?: Clock
}

/** A file and its path in the run's workspace; a browser's file brings its own (`webkitRelativePath`, or its name). */
export type RunFile = File | { path: string; content: Blob }

export interface RunRequest {
  variables?: Record<string, unknown>
  inputs?: Record<string, unknown>
  failStrategy?: 'abort' | 'skip' | null
  ttlHours?: number | null
  callbackUrl?: string | null
  files?: readonly RunFile[]
}

export interface CreatedRun {
  runId: string
  workflowId: number
  status: 'CREATED'
  createdAt: string
  links: { start: string; stream: string; result: string; workspace: string }
}

export interface Pause {
  clarifyId: string
  nodeId: string
  visitUuid: string
  question: string
  choices: string[]
  options: Option[]
  allowCustom: boolean
  placeholder: string
  multiple: boolean
  createdAt: string
}

export interface RunStateAnswer {
  runId: string
  status: 'CREATED' | 'RUNNING' | 'SUCCESS' | 'FAILED'
  currentPause: Pause | null
  pauses: Pause[]
}

export interface EventsPage {
  events: { id: number; type: string; data: any }[]
  lastId: number
  status: 'CREATED' | 'RUNNING' | 'SUCCESS' | 'FAILED'
  done: boolean
  gone?: number
}

/** The calls of the external API that a run needs. Every call rejects with `ApiError`. */
export class Api {
  constructor(options?: ApiOptions)
  readonly language: 'zh' | 'en'
  readonly clock: Clock
  createRun(workflow: string, request?: RunRequest, options?: { idempotencyKey?: string }): Promise<CreatedRun>
  startRun(workflow: string, runId: string): Promise<{ runId: string; status: 'RUNNING'; streamUrl: string }>
  result(workflow: string, runId: string, signal?: AbortSignal): Promise<any>
  state(runId: string, signal?: AbortSignal): Promise<RunStateAnswer>
  /** A page of the run's events; the next one begins after its `lastId`. */
  events(runId: string, after: number, signal?: AbortSignal): Promise<EventsPage>
  resume(
    runId: string,
    clarifyId: string,
    answer: Answer,
  ): Promise<{ accepted: boolean; runId: string; clarifyId: string }>
  cancel(runId: string): Promise<{ runId: string; status: 'FAILED'; error: 'CANCELLED' }>
  /** The open stream of everything after an event (0: from the first), or null where nothing can follow (204). */
  stream(runId: string, after: number, signal: AbortSignal): Promise<Response | null>
  /** Any call: the `data` of its answer. `path` is below the base URL; `timeoutMs: 0` waits for as long as it takes. */
  request(
    method: string,
    path: string,
    options?: {
      body?: unknown
      form?: FormData
      headers?: Record<string, string>
      timeoutMs?: number
      signal?: AbortSignal
    },
  ): Promise<any>
}

/** A request that failed. `message` is the server's sentence for people, in the language that was asked for. */
export class ApiError extends Error {
  constructor(
    code: string,
    message: string,
    about?: { status?: number; data?: any; requestId?: string | null; retryAfterMs?: number | null },
  )
  /** The API's code, or `NETWORK_ERROR` where no answer of the API came. */
  readonly code: string
  /** The HTTP status; 0 where there was none. */
  readonly status: number
  /** `{problems}` with `GRAPH_INVALID`. */
  readonly data: any
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  /** Whether the same request may go well later. */
  readonly retryable: boolean
}

export interface RunControllerOptions extends ApiOptions {
  /** In place of the options of one. */
  api?: Api
  /** The run's workflow: then times come from the server, and a run whose events have expired is still shown. */
  workflow?: string
  /** After everything that changes the store; once for all events of one piece of a stream. */
  onStateChange?: (store: VisitStore) => void
  /** `text` is what a page says above the run, null where it need not say anything. */
  onBannerChange?: (text: string | null, connection: Connection) => void
}

/** Follows one run to its end, across any number of broken connections, and answers its questions. */
export class RunController {
  constructor(runId: string, options?: RunControllerOptions)
  /** Creates and starts a run, and gives what will follow it. May be repeated with the same `idempotencyKey`. */
  static create(
    workflow: string,
    request: RunRequest,
    options?: RunControllerOptions & { idempotencyKey?: string },
  ): Promise<RunController>
  readonly runId: string
  readonly store: VisitStore
  readonly connection: Connection
  /** Resolves when the run has ended or `destroy` was called; rejects with `ApiError` when the server refuses. */
  start(): Promise<Run>
  /** Answers a question of the run; one that was answered already counts as answered. Rejects with `ApiError`. */
  submitAsk(clarifyId: string, answer: Answer): Promise<void>
  /** Ends the run; its last event tells it. */
  cancel(): Promise<unknown>
  /** Stops following. The run goes on. */
  destroy(): void
}

/** What is known of a run, out of its events. Each event counts once, however often it comes. */
export class VisitStore {
  constructor(runId: string, clock?: { now(): number })
  /** Never changes: after an event it is another object, in which what has not changed is the same. */
  readonly run: Run
  /** The id to go on from. */
  readonly lastEventId: number
  /** Events that the server does not keep any more, and that nobody has told here. */
  readonly missedEvents: number
  /** Whether the run has ended, as far as is known here. */
  readonly isOver: boolean
  /** The visits that wait for a person. */
  readonly waiting: readonly Visit[]
  /** Takes the `data` of an event. Gives whether it was new. */
  applyEvent(event: any, eventId: number): boolean
  /** Takes the answer of `/state`. */
  applyStateSnapshot(state: RunStateAnswer): void
  /** Takes the answer of `GET /workflows/{workflow}/runs/{runId}`. */
  applyResult(result: any): void
  markAskSubmitted(clarifyId: string, answer: Answer): void
  markAskOpen(clarifyId: string): void
}

/** What a page says above a run, or null where it need not say anything. */
export function bannerText(connection: Connection, language?: 'zh' | 'en'): string | null

/** Whether `value` is `{status, message, data}`: an object with both `status` and `data`. */
export function isEnvelope(value: unknown): value is Envelope

/** What to show of an output: of a failure its message, else its data, or the message where there is no data. */
export function unwrapNodeOutput(output: any): any

export function nodeOutputStatus(output: any): 'completed' | 'failed'

/** The sentence of an output, whether it went well or not. */
export function nodeOutputMessage(output: any): string

/** One server-sent event; `id` is null where it brings none of its own. */
export interface Message {
  id: string | null
  event: string
  data: string
}

/** Reads server-sent events out of bytes, wherever these are cut. */
export class EventStreamParser {
  /** The last `retry:` that came, in milliseconds. */
  readonly retryMs: number | null
  /** The messages that `bytes` completes; a comment is none. */
  feed(bytes: Uint8Array): Message[]
}
