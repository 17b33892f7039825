import type { Envelope, Visit } from 'stepweave-client'

export interface Usage {
  readonly input: number
  readonly output: number
}

/** Tokens of a visit; null where its node asked no model, or has not ended. */
export function usageOf(output: Envelope | null): Usage | null {
  const usage: unknown = output?.metadata?.['usage']
  if (typeof usage !== 'object' || usage === null) return null
  const { inputTokens, outputTokens } = usage as Record<string, unknown>
  return { input: Number(inputTokens) || 0, output: Number(outputTokens) || 0 }
}

export function totalUsage(visits: readonly Visit[]): Usage {
  let input = 0
  let output = 0
  for (const visit of visits) {
    const usage = usageOf(visit.output)
    input += usage?.input ?? 0
    output += usage?.output ?? 0
  }
  return { input, output }
}
