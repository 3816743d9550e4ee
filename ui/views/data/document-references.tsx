/** The documents that the references of a document join; a click opens one. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { href } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import type { Versioned } from '../../client/data-client.ts'
import { type Json, isArray, isObject, printJson } from '../../client/json.ts'
import type { Fields, Metadata } from '../../client/types.ts'
import { Failure, Progress } from '../../parts/notices.tsx'
import { brief } from '../../parts/value.tsx'

interface Reference {
  readonly path: string
  readonly entity: string
}

interface DocumentReferencesProps {
  readonly metadata: Metadata
  readonly stored: Versioned
}

export function DocumentReferences({ metadata, stored }: DocumentReferencesProps): JSX.Element {
  const references = referencesIn(metadata.schema.fields, '')
  const id = stored.document['_id'] ?? null
  const joined = useLoaded(async () => {
    const { documents } = await client.find({
      entity: metadata.entityInfo.name,
      version: metadata.schema.version.value,
      query: { field: '_id', op: '=', rvalue: id },
      projection: references.map(({ path }) => ({ field: path, recursive: true })),
      range: [0, 0],
    })
    return documents[0] ?? {}
  }, [printJson(id), metadata])
  if (joined.failure !== undefined) return <Failure failure={joined.failure} onRetry={joined.reload} />
  if (!joined.value) return <Progress label="Following references" />
  return (
    <div class="references">
      {references.map(({ path, entity }) => {
        const found = joinedAt(joined.value, path.split('.'))
        return (
          <section key={path}>
            <h3>
              {path} <small>→ {entity}</small>
            </h3>
            {found.length === 0 && <p class="hint">joins no document</p>}
            <ul>
              {found.map((each, i) => (
                <li key={i}>
                  <a href={href(['data', entity], { doc: printJson(idOf(each)) })}>{brief(each)}</a>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function referencesIn(fields: Fields, prefix: string): readonly Reference[] {
  return Object.entries(fields).flatMap(([name, field]): readonly Reference[] => {
    const path = `${prefix}${name}`
    if (field.type === 'reference') return [{ path, entity: field.entity ?? '' }]
    if (field.fields) return referencesIn(field.fields, `${path}.`)
    return field.items?.fields ? referencesIn(field.items.fields, `${path}.*.`) : []
  })
}

function joinedAt(value: Json | undefined, path: readonly string[]): readonly Json[] {
  const [step, ...rest] = path
  if (step === undefined) return isArray(value) ? value : []
  if (step === '*') return isArray(value) ? value.flatMap((each) => joinedAt(each, rest)) : []
  return isObject(value) ? joinedAt(value[step], rest) : []
}

function idOf(document: Json): Json {
  return isObject(document) ? (document['_id'] ?? null) : null
}
