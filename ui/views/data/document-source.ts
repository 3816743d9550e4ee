/** Which document a panel shows, and reading it. */
import { client } from '../../app/session.ts'
import type { Versioned } from '../../client/data-client.ts'
import { type Json, parseJson } from '../../client/json.ts'
import type { Metadata } from '../../client/types.ts'

export interface DocumentPanelProps {
  readonly metadata: Metadata
  /** Undefined for a new document. */
  readonly id: Json | undefined
  readonly asOf: string | undefined
  /** The `_id`, as JSON, of the document that a new one begins as. */
  readonly copyOf: string | undefined
  readonly onClose: () => void
  readonly onWritten: () => void
}

/** The `_id` that an address says. One that somebody typed without quotes is taken as text. */
export function idIn(text: string): Json {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

interface DocumentSource {
  readonly entity: string
  readonly version: string
  readonly asOf?: string | undefined
}

export async function readDocument(source: DocumentSource, id: Json): Promise<Versioned | undefined> {
  const query = { field: '_id', op: '=', rvalue: id }
  const { documents, versions } = await client.find({ ...source, query, range: [0, 0], isCounted: false })
  return documents[0] && { document: documents[0], documentVersion: versions[0] ?? '' }
}
