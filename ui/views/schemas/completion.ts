/** Completion in metadata: the names and words that the service knows. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { EditorView } from '@codemirror/view'

const NAMES = [
  'entityInfo', 'schema', 'name', 'defaultVersion', 'history', 'indexes', 'enums', 'values', 'hooks', 'actions',
  'configuration', 'watchProjection', 'includeProjection', 'unique', 'fields', 'field', 'dir', 'caseInsensitive', 'version',
  'value', 'changelog', 'status', 'access', 'find', 'insert', 'update', 'delete', 'type', 'description', 'constraints',
  'required', 'identity', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'enum', 'matches',
  'element-identity', 'valueGenerator', 'overwrite', 'items', 'entity', 'versionValue', 'query', 'projection', 'sort', 'role',
  'where', 'op', 'rvalue', 'rfield', 'recursive', 'include', 'datastore', 'kind', 'language', 'weight',
  'arrayOrderingSignificant',
] // prettier-ignore

const WORDS = [
  'boolean', 'integer', 'double', 'biginteger', 'bigdecimal', 'string', 'date', 'binary', 'uid', 'any', 'object', 'array',
  'reference', 'active', 'deprecated', 'disabled', 'anyone', 'noone', 'UUID', 'CurrentTime', 'IntSequence', '$asc', '$desc',
  '$caller.principal', 'notification', 'audit', 'text',
] // prettier-ignore

export function completeMetadata(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/"[\w$.-]*/)
  if (!word) return null
  const before = context.state.sliceDoc(0, word.from).trimEnd()
  const isValue = before.endsWith(':') || before.endsWith('[')
  const options: Completion[] = isValue
    ? WORDS.map((label) => ({ label, type: 'constant' }))
    : NAMES.map((label) => ({ label, type: 'property', apply: applyName }))
  return { from: word.from + 1, options }
}

/** The closing quote was added with the opening one: it is replaced, and what follows a name is written too. */
function applyName(view: EditorView, { label }: Completion, from: number, to: number): void {
  const insert = `${label}": `
  const end = view.state.sliceDoc(to, to + 1) === '"' ? to + 1 : to
  view.dispatch({ changes: { from, to: end, insert }, selection: { anchor: from + insert.length } })
}
