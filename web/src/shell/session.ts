import { ref } from 'vue'

const KEY = 'stepweave.key'

/** The API key of this tab, or null. It is kept in sessionStorage alone, and goes into headers alone. */
export const apiKey = ref<string | null>(read())

export function enterKey(key: string): void {
  apiKey.value = key
  store((storage) => storage.setItem(KEY, key))
}

export function forgetKey(): void {
  apiKey.value = null
  store((storage) => storage.removeItem(KEY))
}

function read(): string | null {
  try {
    return sessionStorage.getItem(KEY)
  } catch {
    return null
  }
}

/** A frame of another page may be kept from storing anything; then the key holds until the page is left. */
function store(change: (storage: Storage) => void): void {
  try {
    change(sessionStorage)
  } catch {
    return
  }
}
