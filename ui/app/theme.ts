/** Light or dark: as the system says, or as the user chose. */
import { createStore } from './store.ts'

const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const KEY = 'smalt.theme'

export const themeStore = createStore<Theme>(stored())
apply(themeStore.get())

export function nextTheme(): void {
  const theme = THEMES[(THEMES.indexOf(themeStore.get()) + 1) % THEMES.length]!
  localStorage.setItem(KEY, theme)
  themeStore.set(theme)
  apply(theme)
}

function stored(): Theme {
  const kept = localStorage.getItem(KEY)
  return THEMES.find((each) => each === kept) ?? 'auto'
}

function apply(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}
