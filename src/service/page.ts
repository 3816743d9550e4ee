/** Gathers what a response shows of the documents: their text, projected where something may not or need not be seen. */
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, parseTrusted } from '../base/json.ts'
import { compileProjection } from '../lang/project.ts'
import type { Projection } from '../lang/projection.ts'
import type { FieldRef } from '../lang/resolve.ts'
import type { Schema } from '../schema/schema.ts'
import type { StoredDocument } from '../plan/plan.ts'
import type { JsonText } from './response.ts'

export interface Page {
  readonly take: (document: StoredDocument) => void
  readonly processed: JsonText[]
  readonly resultMetadata: JsonText[]
}

export interface PageOptions {
  readonly schema: Schema
  /** Absent: documents as they are stored. */
  readonly projection?: Projection<FieldRef>
  readonly showsId: boolean
  readonly maxBytes: number
}

export function createPage({ schema, projection, showsId, maxBytes }: PageOptions): Page {
  const show = projection ? shownBy(projection, schema) : (document: StoredDocument) => document.text
  const processed: JsonText[] = []
  const resultMetadata: JsonText[] = []
  let size = 0
  return {
    processed,
    resultMetadata,
    take(document) {
      const version = JSON.stringify(`${showsId ? document.id : ''}:${document.version}`)
      const text = show(document, version)
      size += text.length
      if (size > maxBytes) {
        const message = `the result is larger than ${maxBytes} bytes; ask for a range, or for fewer fields`
        throw new ServiceError('crud:ResultSizeTooLarge', message)
      }
      processed.push(text)
      resultMetadata.push(`{"documentVersion":${version}}`)
    },
  }
}

function shownBy(
  projection: Projection<FieldRef>,
  schema: Schema,
): (document: StoredDocument, version: string) => JsonText {
  if (projection.length === 0) return () => '{}'
  const project = compileProjection(projection, schema.root)
  return ({ text }, version) =>
    JSON.stringify(project(parseTrusted(text) as JsonObject, JSON.parse(version) as string))
}
