/** Resolves a text search to the fields of the index that serves it. */
import { ServiceError } from '../../base/errors.ts'
import type { ObjectField, WordIndex } from '../../schema/field.ts'
import type { Named, TextSearch } from '../query.ts'
import { parseSearch } from '../text-search.ts'
import { invalidQuery } from './checks.ts'
import { type FieldRef, type Scope, resolveField } from './scope.ts'

export function resolveText(query: TextSearch<Named>, scope: Scope): TextSearch<FieldRef> {
  const { at } = query
  const { fields, language } = indexFor(query, scope)
  return {
    ...query,
    ...(language && { language, terms: parseSearch(query.text, at, language) }),
    fields: fields.map(({ path }) => textAt(path, at, scope)),
    weights: fields.map(({ weight }) => weight),
  }
}

/** An index may name an array where it has the elements. */
function textAt(path: string, at: string, scope: Scope): FieldRef {
  try {
    const found = resolveField({ path, at }, scope)
    return found.field.kind === 'array' ? resolveField({ path: `${path}.*`, at }, scope) : found
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw invalidQuery(
      `the index has the field "${path}", which this version does not have; use one that has it`,
      at,
    )
  }
}

function indexFor({ index: name, at }: TextSearch<Named>, { here, outer, joins, result }: Scope): WordIndex {
  const isDocument = here.kind === 'object' && here.path === ''
  if (result || !isDocument) {
    throw invalidQuery('a text search is about whole documents, not about elements of arrays or groups', at)
  }
  // A request that is about joined documents may follow further references; the definition of a reference may not.
  if (outer && (!joins || joins.definesReference)) {
    const message = 'a reference cannot search text, because the index may be removed; compare fields'
    throw invalidQuery(message, at)
  }
  const indexes = here.wordIndexes ?? []
  const found = name === undefined ? indexes : indexes.filter((each) => each.name === name)
  if (found.length === 1) return found[0]!
  throw invalidQuery(notFound(name, here), at)
}

function notFound(name: string | undefined, { wordIndexes = [] }: ObjectField): string {
  const names = wordIndexes.map((each) => JSON.stringify(each.name)).join(', ')
  if (name === undefined && names !== '') return `say which "index" to search; there are ${names}`
  if (names === '') return `a text search needs an index; ${declarationFor(name)}`
  return `there is no index ${JSON.stringify(name)} for text search; there are ${names}; or ${declarationFor(name)}`
}

/** The fields are left to the reader: those of the entity may be hidden from the caller. */
function declarationFor(name = 'text'): string {
  const index = JSON.stringify({ name, kind: 'text', fields: [{ field: 'FIELD' }] })
  return `declare one in "indexes" of entityInfo, such as ${index}, where FIELD is a field of type string`
}
