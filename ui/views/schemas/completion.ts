/** Completion in metadata: the names and words that the service knows. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'

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
  const options: Completion[] = (isValue ? WORDS : NAMES).map((label) => ({
    label,
    apply: isValue ? label : `${label}": `,
    type: isValue ? 'constant' : 'property',
  }))
  // the opening quote stays; the closing one was added with it
  const hasQuote = context.state.sliceDoc(context.pos, context.pos + 1) === '"'
  return { from: word.from + 1, to: hasQuote && !isValue ? context.pos + 1 : context.pos, options }
}
