/** A duration for people: `340 ms`, `3.2 s`, `4 min 05 s`, `2 h 03 min`. */
export function spelledDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${padded(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} min`
}

function padded(number: number): string {
  return String(number).padStart(2, '0')
}
