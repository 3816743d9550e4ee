/** One entity: its fields, who may do what, its versions, findings, and its metadata as JSON. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { change, href, usePlace } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { type Json, type JsonObject, printJson, textOf } from '../../client/json.ts'
import type { Field, Fields, Metadata } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import { Failure, Progress } from '../../parts/notices.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { isPredefined } from '../../schema/columns.ts'
import { AccessMatrix } from './access-matrix.tsx'
import { Findings } from './findings.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import { Versions } from './versions.tsx'

const TABS = [
  { name: 'fields', label: 'Fields' },
  { name: 'access', label: 'Access' },
  { name: 'versions', label: 'Versions' },
  { name: 'findings', label: 'Findings' },
  { name: 'edit', label: 'Edit' },
  { name: 'new', label: 'New version' },
] as const

type TabName = (typeof TABS)[number]['name']

interface EntitySchemaProps {
  readonly entity: string
  readonly revision: number
  readonly onWritten: () => void
}

export function EntitySchema({ entity, revision, onWritten }: EntitySchemaProps): JSX.Element {
  const { query } = usePlace()
  const version = query['v']
  const tab = TABS.find(({ name }) => name === query['tab'])?.name ?? 'fields'
  const loaded = useLoaded(async () => {
    const versions = await client.versions(entity)
    const chosen =
      version ?? versions.find(({ defaultVersion }) => defaultVersion)?.version ?? versions.at(-1)?.version
    return { versions, metadata: await client.metadata({ entity, version: chosen }) }
  }, [entity, version, revision])
  if (loaded.failure !== undefined) return <Failure failure={loaded.failure} onRetry={loaded.reload} />
  if (!loaded.value) return <Progress label="Loading the schema" />
  const { metadata, versions } = loaded.value
  const current = metadata.schema.version.value
  // what is typed while another version is loaded would be lost
  const isWritable = version === undefined || version === current
  return (
    <section class="page tall">
      <header class="toolbar">
        <a class="back" href={href(['schemas'])} aria-label="All entities">
          ‹
        </a>
        <h1>{entity}</h1>
        <label class="inline">
          <span class="sr-only">Version</span>
          <select value={current} onChange={(event) => change({ v: event.currentTarget.value })}>
            {versions.map((each) => (
              <option key={each.version} value={each.version}>
                {each.version}
                {each.defaultVersion ? ' (default)' : ''}
              </option>
            ))}
          </select>
        </label>
        <span class={`badge ${metadata.schema.status.value}`}>{metadata.schema.status.value}</span>
        <span class="spacer" />
        <a class="button" href={href(['data', entity], { v: version })}>
          <Icon name="data" />
          Data
        </a>
      </header>
      <Tabs
        label="Schema"
        tabs={TABS}
        current={tab}
        onChoose={(name: TabName) => change({ tab: name }, true)}
      >
        {tab === 'fields' && <FieldsTab metadata={metadata} />}
        {tab === 'access' && <AccessMatrix entity={entity} version={current} />}
        {tab === 'versions' && (
          <Versions key={versions.length} entity={entity} versions={versions} onWritten={onWritten} />
        )}
        {tab === 'findings' && <FindingsTab entity={entity} revision={revision} />}
        {tab === 'edit' && isWritable && (
          <MetadataEditor
            key={`${current} ${revision}`}
            initial={written(metadata)}
            isExisting
            onWritten={onWritten}
          />
        )}
        {tab === 'new' && isWritable && (
          <MetadataEditor key={current} initial={nextVersion(metadata)} onWritten={onWritten} />
        )}
      </Tabs>
    </section>
  )
}

function FieldsTab({ metadata: { schema, entityInfo } }: { readonly metadata: Metadata }): JSX.Element {
  const { indexes = [], hooks = [], enums = [], history, datastore } = entityInfo
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields">
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Constraints</th>
              <th scope="col">Access</th>
            </tr>
          </thead>
          <tbody>
            <FieldRows fields={schema.fields} prefix="" />
          </tbody>
        </table>
      </div>
      <dl class="facts">
        <dt>Indexes</dt>
        <dd>
          {indexes.map(({ unique, fields, name }) => {
            const paths = fields.map(({ field, dir }) => `${field}${dir === '$desc' ? ' ↓' : ''}`).join(', ')
            return (
              <div key={paths}>
                <code>{paths}</code> {unique === true && <span class="badge">unique</span>}{' '}
                <small>{name}</small>
              </div>
            )
          })}
        </dd>
        <dt>Enums</dt>
        <dd>
          {enums.length === 0
            ? 'none'
            : enums.map(({ name, values }) => `${name}: ${values.join(', ')}`).join('; ')}
        </dd>
        <dt>Hooks</dt>
        <dd>{hooks.length === 0 ? 'none' : hooks.map(hookText).join('; ')}</dd>
        <dt>History</dt>
        <dd>{history === true ? 'recorded' : 'not recorded'}</dd>
        <dt>Stored in</dt>
        <dd>{printJson(datastore ?? null)}</dd>
      </dl>
    </>
  )
}

function hookText({ name, actions }: JsonObject): string {
  return `${textOf(name)} on ${Array.isArray(actions) ? actions.join(', ') : 'nothing'}`
}

function FieldRows({ fields, prefix }: { readonly fields: Fields; readonly prefix: string }): JSX.Element {
  return (
    <>
      {Object.entries(fields)
        .filter(([name]) => !isPredefined(`${prefix}${name}`))
        .map(([name, field]) => {
          const path = `${prefix}${name}`
          const inner = field.fields ?? field.items?.fields
          const type = field.type === 'array' ? `array of ${field.items?.type ?? '?'}` : field.type
          return (
            <>
              <tr key={path}>
                <th scope="row" title={field.description ?? undefined}>
                  {path}
                </th>
                <td>
                  {type}
                  {field.entity !== undefined && (
                    <>
                      {' '}
                      → <a href={href(['schemas', field.entity])}>{field.entity}</a>
                    </>
                  )}
                </td>
                <td>{constraintText(field.constraints)}</td>
                <td>{accessText(field.access)}</td>
              </tr>
              {inner && <FieldRows fields={inner} prefix={`${path}${field.items ? '.*' : ''}.`} />}
            </>
          )
        })}
    </>
  )
}

function constraintText(constraints: JsonObject = {}): string {
  return Object.entries(constraints)
    .filter(([, value]) => value !== false)
    .map(([name, value]) => (value === true ? name : `${name} ${textOf(value)}`))
    .join(', ')
}

function accessText(access: Fields[string]['access'] = {}): string {
  return Object.entries(access)
    .filter(([, list]) => list.length > 0)
    .map(([operation, list]) => `${operation}: ${list.map(entryText).join(', ')}`)
    .join('; ')
}

function entryText(entry: Json): string {
  return typeof entry === 'string' ? entry : printJson(entry)
}

function FindingsTab({
  entity,
  revision,
}: {
  readonly entity: string
  readonly revision: number
}): JSX.Element {
  const findings = useLoaded(() => client.lint(entity), [entity, revision])
  if (findings.failure !== undefined) return <Failure failure={findings.failure} onRetry={findings.reload} />
  if (!findings.value) return <Progress label="Checking" />
  if (findings.value.length === 0) return <p class="hint">Nothing to report.</p>
  return <Findings findings={findings.value} />
}

/** What a user writes: without what the service adds by itself. */
function written({ entityInfo, schema }: Metadata): JsonObject {
  const { _id: _, ...info } = entityInfo as unknown as JsonObject
  const { _id: __, ...rest } = schema as unknown as JsonObject
  const fields = Object.fromEntries(
    Object.entries(schema.fields)
      .filter(([name, field]) => !isPredefined(name) && (name !== '_id' || isDeclared(field)))
      .map(([name, field]) => [name, field as unknown as Json]),
  )
  return { entityInfo: info, schema: { ...rest, fields } }
}

/** Whether `_id` says more than the one that every schema gets. */
function isDeclared({ type, constraints = {}, valueGenerator, description }: Field): boolean {
  const isUsual = type === 'string' && Object.keys(constraints).length === 0
  return !isUsual || valueGenerator !== undefined || (description ?? null) !== null
}

/** The same schema with the next minor version, to be changed. */
function nextVersion(metadata: Metadata): JsonObject {
  const { entityInfo, schema } = written(metadata) as { entityInfo: JsonObject; schema: JsonObject }
  const [major = '1', minor = '0'] = metadata.schema.version.value.split('.')
  const version = { value: `${major}.${Number(minor) + 1}.0`, changelog: 'what changes' }
  return { entityInfo, schema: { ...schema, version, status: { value: 'active' } } }
}
