/** What the words of an index for text search are taken from, as one text: columns and full-text tables are found by it. */
import { parsePath } from '../../base/path.ts'
import type { Language } from '../../base/stemmers.ts'
import type { TextSearch } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { WordSource } from '../../schema/document-words.ts'
import type { IndexDefinition } from '../../schema/schema.ts'

/** The source of an index. */
export function indexedSource({ fields, language }: IndexDefinition): string {
  return printSource(
    fields.map(({ path }) => path),
    language,
  )
}

/** The source that a text search asks for. */
export function searchedSource({ fields, language }: TextSearch<FieldRef>): string {
  return printSource(
    fields.map(({ field }) => field.path),
    language,
  )
}

/** Only the fields where there is no language, as stores record it since before there were languages. */
function printSource(fields: readonly string[], language: Language | undefined): string {
  return JSON.stringify(language === undefined ? fields : { language, fields })
}

export function parseSource(text: string): WordSource {
  const source = JSON.parse(text) as readonly string[] | Printed
  const { language, fields } = 'fields' in source ? source : { language: undefined, fields: source }
  return { language, fields: fields.map((path) => parsePath(path, '')) }
}

interface Printed {
  readonly language: Language
  readonly fields: readonly string[]
}
