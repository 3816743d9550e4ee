/** Gathers what a response shows of the documents: their text, projected where something may not or need not be seen. */
import type { Showing, Sight } from '../access/requests.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, parseTrusted } from '../base/json.ts'
import { memoized } from '../base/memo.ts'
import { compileShowing } from '../lang/everything-but.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/scope.ts'
import type { Schema } from '../schema/schema.ts'
import type { StoredDocument } from '../plan/plan.ts'
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
  { projection }: { readonly projection?: Projection<FieldRef> },
  { maxBytes, secret }: { readonly maxBytes: number; readonly secret: string },
): Page {
  const { show, versionOf } = showing.shownAs
    ? oneByOne(showing, showing.shownAs, secret)
    : allAlike(showing, projection, secret)
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
function allAlike(
  { schema, showsId, projection: whole }: Showing,
  projection: Projection<FieldRef> | undefined,
  secret: string,
): Look {
  const naming = { showsId, secret }
  const versionOf = (document: StoredDocument): string => documentVersion(document, naming)
  const show = projection
    ? shownBy(projection, schema, versionOf)
    : asStored(schema, () => shownBy(whole, schema, versionOf))
  return { show, versionOf }
}

/** Each document is looked at as it is stored, to know what of it may be seen. */
function oneByOne(
  { schema, projection }: Showing,
  shownAs: (document: JsonObject) => Sight,
  secret: string,
): Look {
  const projectorFor = memoized(({ exclusions }: Sight) =>
    compileShowing([...projection, ...exclusions], schema.root),
  )
  let last:
    | { readonly document: StoredDocument; readonly value: JsonObject; readonly sight: Sight }
    | undefined
  const lookAt = (document: StoredDocument) => {
    if (last?.document === document) return last
    const value = parseTrusted(document.text) as JsonObject
    last = { document, value, sight: shownAs(value) }
    return last
  }
  const versionOf = (document: StoredDocument): string =>
    documentVersion(document, { showsId: lookAt(document).sight.showsId, secret })
  const show = (document: StoredDocument): JsonText => {
    if (projection.length === 0) return '{}'
    const { value, sight } = lookAt(document)
    return JSON.stringify(projectorFor(sight)(value, versionOf(document)))
  }
  return { show, versionOf }
}

/** Only what the schema knows all about; what another process has stored by a newer version is projected first. */
function asStored({ collection }: Schema, projecting: () => Show): Show {
  const { paths: known = Infinity } = collection
  let project: Show | undefined
  return (document) => {
    if ((document.paths ?? 0) <= known) return document.text
    project ??= projecting()
    return project(document)
  }
}

type Show = (document: StoredDocument) => JsonText

function shownBy(
  projection: Projection<FieldRef>,
  schema: Schema,
  versionOf: (document: StoredDocument) => string,
): Show {
  if (projection.length === 0) return () => '{}'
  const project = compileShowing(projection, schema.root)
  return (document) => JSON.stringify(project(parseTrusted(document.text) as JsonObject, versionOf(document)))
}
