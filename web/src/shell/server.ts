import { Api, ApiError } from 'stepweave-client'
import { computed } from 'vue'
import { language } from './preferences'
import { apiKey } from './session'

/** What the server wrote into the page. */
interface Told {
  /** Whose pages may frame this one. */
  embedOrigins: string[]
  /** Files go to addresses that it signs: no large request reaches it. */
  signedUploads: boolean
}

export const told: Told = read()

function read(): Told {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="stepweave"]')
  return meta === null ? { embedOrigins: [], signedUploads: false } : (JSON.parse(meta.content) as Told)
}

const credentials = computed(() => ({ apiKey: () => apiKey.value ?? '', language: language.value }))

/** The external API, by the key of this tab. */
export const external = computed(() => new Api(credentials.value))

/** The platform's own API, which takes a key of scope admin. */
export const platform = computed(() => new Api({ ...credentials.value, baseUrl: '/api' }))

/** An error in words for people. */
export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether a request was refused for its key. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UNAUTHORIZED'
}
