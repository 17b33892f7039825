import { ref, watch, watchEffect } from 'vue'
import { type Language, preferredLanguage } from './words'

export type Theme = 'auto' | 'light' | 'dark'

/** What a person chose for this browser. Where nothing may be stored, it holds until the page is left. */
export const language = ref<Language>(stored('language', ['zh', 'en'], preferredLanguage()))
export const theme = ref<Theme>(stored('theme', ['auto', 'light', 'dark'], 'auto'))

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = ref(prefersDark.matches)

export function applyPreferences(): void {
  prefersDark.addEventListener('change', (change) => (systemIsDark.value = change.matches))
  watchEffect(() => {
    const isDark = theme.value === 'dark' || (theme.value === 'auto' && systemIsDark.value)
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
    document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
  })
  watch(language, (value) => keep('language', value))
  watch(theme, (value) => keep('theme', value))
}

function stored<T extends string>(name: string, allowed: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(`stepweave.${name}`)
    return allowed.find((each) => each === value) ?? otherwise
  } catch {
    return otherwise
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`stepweave.${name}`, value)
  } catch {
    return
  }
}
