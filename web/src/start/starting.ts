import type { Api, RunRequest } from 'stepweave-client'

export interface PlacedFile {
  path: string
  content: File
}

interface Upload {
  path: string
  url: string
  headers: Record<string, string>
}

/**
 * Creates a run with its files and starts it. `signed`: the server stands behind a gateway that no large request passes,
 * so the files go to addresses that it signs. Gives the run's id.
 */
export async function startRun(
  api: Api,
  workflow: string,
  request: RunRequest,
  files: readonly PlacedFile[],
  signed: boolean,
): Promise<string> {
  const form = signed ? request : { ...request, files }
  const { runId } = await api.createRun(workflow, form, { idempotencyKey: freshKey() })
  if (signed && files.length > 0) await upload(api, workflow, runId, files)
  await api.startRun(workflow, runId)
  return runId
}

async function upload(api: Api, workflow: string, runId: string, files: readonly PlacedFile[]): Promise<void> {
  const wanted = files.map(({ path, content }) => ({ path, size: content.size }))
  const path = `/workflows/${encodeURIComponent(workflow)}/runs/${runId}/uploads`
  const { uploads } = (await api.request('POST', path, { body: { files: wanted } })) as { uploads: Upload[] }
  for (const [index, { url, headers }] of uploads.entries()) {
    const response = await fetch(url, { method: 'PUT', headers, body: files[index]?.content ?? null })
    if (!response.ok) throw new Error(`${uploads[index]?.path}: HTTP ${response.status}`)
  }
}

/** So that a request that is sent twice makes one run. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
