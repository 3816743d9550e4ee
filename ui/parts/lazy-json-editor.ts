/** The editor for JSON, fetched when it is first shown. */
import { lazyPart } from '../app/lazy.tsx'
import type { JsonEditorProps } from './json-editor.tsx'

export const LazyJsonEditor = lazyPart<JsonEditorProps>(
  async () => (await import('./json-editor.tsx')).JsonEditor,
)
