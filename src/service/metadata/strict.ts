/** Refuses keys without a meaning, which metadata otherwise keeps with a warning. */
import { ServiceError } from '../../base/errors.ts'
import type { EntityInfo } from '../../metadata/documents/entity-info.ts'
import type { SchemaDocument } from '../../metadata/documents/schema-document.ts'
import {
  type UnknownKey,
  unknownInInfo,
  unknownInSchema,
  withFate,
} from '../../metadata/lint/ineffective/unknown-key.ts'

interface Sent {
  readonly info?: EntityInfo
  readonly schema?: SchemaDocument
}

interface Place {
  /** The place of the metadata document in the request. */
  readonly within?: string
  /** Whether the request contains entity info or a schema alone. */
  readonly isPart?: boolean
}

export function refuseUnknownKeys({ info, schema }: Sent, { within = '', isPart = false }: Place = {}): void {
  const [first] = info ? unknownInInfo(info) : []
  const found: UnknownKey | undefined = first ?? (schema && unknownInSchema(schema).next().value) ?? undefined
  if (!found) return
  const problem = withFate(found.intent, 'without "strict" it would be kept')
  const at = isPart ? found.at.replace(/^\/[a-zA-Z]+/, '') : found.at
  throw new ServiceError('metadata:IllFormedMetadata', problem, { at: `${within}${at}` })
}
