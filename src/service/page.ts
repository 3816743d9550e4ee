/** Gathers what a response shows of the documents: their text, projected where something may not or need not be seen. */
import type { Showing, Sight } from '../access/requests.ts'
import { memberCutter } from '../base/cut-members.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, parseTrusted } from '../base/json.ts'
import { memoized, once } from '../base/memo.ts'
import { compileProjection } from '../lang/project.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/scope.ts'
import { compileStrip, hiddenMembers } from '../lang/strip.ts'
import type { Schema } from '../schema/schema.ts'
import type { StoredDocument } from '../plan/plan.ts'
import type { Remaining } from '../plan/read.ts'
import { documentVersion } from './document-version.ts'
import type { JsonText } from './response.ts'

export interface Page {
  /** What may be seen of a document. */
  readonly show: (document: StoredDocument) => JsonText
  readonly take: (document: StoredDocument) => void
  /** A document and its version as one line of a stream; nothing is kept of it. */
  readonly line: (document: StoredDocument) => JsonText
  /** All that was taken. */
  readonly shown: Shown
}

export interface Shown {
  readonly processed: readonly JsonText[]
  readonly resultMetadata: readonly JsonText[]
}

/** Without a remaining projection the documents are shown as they are stored. */
export function createPage(
  showing: Showing,
  remaining: Remaining,
  { maxBytes, secret }: { readonly maxBytes: number; readonly secret: string },
): Page {
  const { show, versionOf } = showing.shownAs
    ? oneByOne({ ...showing, shownAs: showing.shownAs }, remaining, secret)
    : allAlike(showing, remaining, secret)
  const metadataOf = (document: StoredDocument): JsonText =>
    `{"documentVersion":${JSON.stringify(versionOf(document))}}`
  const processed: JsonText[] = []
  const resultMetadata: JsonText[] = []
  let size = 0
  return {
    show,
    line: (document) => `{"processed":${show(document)},"resultMetadata":${metadataOf(document)}}`,
    shown: { processed, resultMetadata },
    take(document) {
      const text = show(document)
      size += text.length
      if (size > maxBytes) {
        const message = `the result is larger than ${maxBytes} bytes; ask for a range, or for fewer fields`
        throw new ServiceError('crud:ResultSizeTooLarge', message)
      }
      processed.push(text)
      resultMetadata.push(metadataOf(document))
    },
  }
}

interface Look {
  readonly show: (document: StoredDocument) => JsonText
  readonly versionOf: (document: StoredDocument) => string
}

/** The same is hidden in every document. */
function allAlike(showing: Showing, remaining: Remaining, secret: string): Look {
  const { schema } = showing
  const { isWhole } = remaining
  const naming = { showsId: showing.sight.showsId, secret }
  const versionOf = (document: StoredDocument): string => documentVersion(document, naming)
  const shower = once(() => showerFor(showing.sight, showing.projection, { schema, isWhole }))
  const project = (document: StoredDocument): JsonText =>
    shower()(parseTrusted(document.text) as JsonObject, document, versionOf)
  if (showing.projection.length === 0) return { show: () => '{}', versionOf }
  const isKnown = knowing(schema)
  const cut = isWhole ? cutterOf(schema)(showing.sight) : undefined
  if (cut)
    return { show: (document) => (isKnown(document) ? cut(document.text) : project(document)), versionOf }
  if (remaining.projection) return { show: project, versionOf }
  return { show: (document) => (isKnown(document) ? document.text : project(document)), versionOf }
}

/** Each document is looked at as it is stored, to know what of it may be seen. */
function oneByOne(
  showing: Showing & Required<Pick<Showing, 'shownAs'>>,
  remaining: Remaining,
  secret: string,
): Look {
  const { schema, projection } = showing
  const { isWhole } = remaining
  const showerOf = memoized((sight: Sight) =>
    showerFor(sight, [...projection, ...sight.exclusions], { schema, isWhole }),
  )
  let last:
    | { readonly document: StoredDocument; readonly value: JsonObject; readonly sight: Sight }
    | undefined
  const lookAt = (document: StoredDocument) => {
    if (last?.document === document) return last
    const value = parseTrusted(document.text) as JsonObject
    last = { document, value, sight: showing.shownAs(value) }
    return last
  }
  const versionOf = (document: StoredDocument): string =>
    documentVersion(document, { showsId: lookAt(document).sight.showsId, secret })
  const show = (document: StoredDocument): JsonText => {
    if (projection.length === 0) return '{}'
    const { value, sight } = lookAt(document)
    return showerOf(sight)(value, document, versionOf)
  }
  return { show, versionOf }
}

type Shower = (
  value: JsonObject,
  document: StoredDocument,
  versionOf: (document: StoredDocument) => string,
) => JsonText

/** What is hidden is gone before anything else is looked at; that it is excluded, too, makes sure of it. */
function showerFor(
  sight: Sight,
  projection: Projection<FieldRef>,
  { schema, isWhole }: { readonly schema: Schema; readonly isWhole: boolean },
): Shower {
  const strip = stripOf(schema)(sight)
  const isKnown = knowing(schema)
  const project = once(() => compileProjection(projection, schema.root))
  return (value, document, versionOf) => {
    const visible = strip(value)
    if (isWhole && isKnown(document)) return JSON.stringify(visible)
    return JSON.stringify(project()(visible, versionOf(document)))
  }
}

const stripOf = memoized((schema: Schema) =>
  memoized(
    ({ isHidden }: Sight) => compileStrip(schema.root.fields, isHidden) ?? ((value: JsonObject) => value),
  ),
)

/** Whole members are cut out of the text; undefined when nothing is hidden, or something deeper down. */
const cutterOf = memoized((schema: Schema) =>
  memoized(({ isHidden }: Sight) => {
    const names = hiddenMembers(schema.root.fields, isHidden)
    return names && names.length > 0 ? memberCutter(names) : undefined
  }),
)

/** Whether the schema knows all about a document; another process may have stored it by a newer version. */
function knowing({ collection }: Schema): (document: StoredDocument) => boolean {
  const { paths: known = Infinity } = collection
  return (document) => (document.paths ?? 0) <= known
}
