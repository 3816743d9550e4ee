/** `smalt metadata`: metadata of a service as files, which can be kept in git. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { type Client, createClient } from '../client/client.ts'
import type { ConnectionFlags } from '../client/connection.ts'
import { textIn } from '../client/failure.ts'
import { dataPath } from '../client/request-parts.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { type Change, changesTo, shownChange } from './changes.ts'
import { BUILT_IN, type Entities, entitiesIn, entitiesOf, removeFiles, writeEntities } from './entities.ts'

interface MetadataFlags extends ConnectionFlags {
  readonly 'dry-run'?: boolean
  readonly prune?: boolean
  readonly 'delete-documents'?: boolean
  readonly lenient?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const ACTIONS = ['pull', 'diff', 'apply'] as const

export async function runMetadata(
  [action = '', directory, ...rest]: readonly string[],
  flags: MetadataFlags,
  environment: Environment,
): Promise<void> {
  const known = ACTIONS.find((each) => each === action)
  if (!known || directory === undefined || rest.length > 0)
    throw usageError(`metadata takes ${ACTIONS.join(', ')} and a directory`, { word: action, known: ACTIONS })
  for (const name of ['dry-run', 'prune', 'delete-documents', 'lenient', 'yes'] as const) {
    const isUseful = known === 'apply' || name === 'prune'
    if (flags[name] !== undefined && !isUseful) throw usageError(`metadata ${known} takes no --${name}`)
  }
  if (flags['delete-documents'] === true && flags.prune !== true)
    throw usageError('--delete-documents is only for --prune')
  const client = createClient(flags, environment)
  switch (known) {
    case 'pull':
      return await pull(client, directory, flags)
    case 'diff':
      return await diff(client, directory, flags)
    case 'apply':
      return await apply(client, directory, flags)
  }
}

async function pull(
  client: Client,
  directory: string,
  { json = false, prune = false }: MetadataFlags,
): Promise<void> {
  const hasBuiltIn = existsSync(join(directory, BUILT_IN))
  const entities = new Map(
    [...(await entitiesOf(client))].filter(([name]) => name !== BUILT_IN || hasBuiltIn),
  )
  const { changed: written, surplus } = writeEntities(directory, entities)
  if (prune) removeFiles(surplus)
  else
    for (const path of surplus)
      process.stderr.write(`kept ${path}, which the service does not have; --prune removes it\n`)
  const changed = prune ? [...written, ...surplus] : written
  if (json) process.stdout.write(`${JSON.stringify({ entities: entities.size, changed })}\n`)
  else
    process.stdout.write(changed.length === 0 ? 'no changes\n' : changed.map((path) => `${path}\n`).join(''))
}

async function diff(
  client: Client,
  directory: string,
  { json = false, prune = false }: MetadataFlags,
): Promise<void> {
  const changes = changesTo(entitiesIn(directory), await entitiesOf(client), prune)
  print(changes, json)
  if (changes.length > 0) process.exitCode = EXIT.warnings
}

function print(changes: readonly Change[], isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(changes)}\n`)
  else if (changes.length === 0) process.stdout.write('no changes\n')
  else process.stdout.write(changes.map((change) => `${shownChange(change)}\n`).join(''))
}

async function apply(client: Client, directory: string, flags: MetadataFlags): Promise<void> {
  const wanted = entitiesIn(directory)
  const present = await entitiesOf(client)
  const deletesDocuments = flags['delete-documents'] === true
  const found = changesTo(wanted, present, flags.prune === true)
  const changes = await withDocuments(client, found, present)
  refuseChangedVersions(changes)
  print(changes, flags.json === true)
  if (changes.length === 0) return
  const documents = newVersions(wanted, present, changes)
  const strict = `strict=${flags.lenient !== true}`
  const early = changes.filter((change) => enablesDefault(change, wanted))
  if (flags['dry-run'] === true) return await rehearse(client, { wanted, changes, early, documents, strict })
  if (!deletesDocuments) refuseFilledEntities(changes)
  await confirm(changes, flags.yes === true)
  for (const { entity, version, status } of early) {
    await setStatus(client, entity, version!, status!)
    // printed at once, because the status stays changed if a later request is refused
    process.stderr.write(`set ${entity} ${version} to ${status} first, because it is the default version\n`)
  }
  // what refers to each other must arrive together, so there is one request for all documents
  if (documents.length > 0) warn(await client.ask('PUT', `/metadata?${strict}`, { body: documents }))
  const sent = new Set(documents.map(({ entityInfo }) => textIn(entityInfo, 'name')))
  for (const change of changes) {
    const { kind, entity, version, status } = change
    if (early.includes(change)) continue
    if (kind === 'change info' && !sent.has(entity))
      await changeInfo(client, wanted.get(entity)!.info, strict)
    if (kind === 'change status') await setStatus(client, entity, version!, status!)
    if (kind === 'drop entity') await drop(client, entity, deletesDocuments)
  }
  process.stderr.write(`applied ${changes.length} change${changes.length === 1 ? '' : 's'}\n`)
}

/** Whether it enables the default version, which must not be disabled when entity info names it. */
function enablesDefault({ kind, entity, version, status }: Change, wanted: Entities): boolean {
  if (kind !== 'change status' || status === 'disabled') return false
  return version !== undefined && textIn(wanted.get(entity)!.info, 'defaultVersion') === version
}

async function changeInfo(client: Client, info: JsonObject, parameters: string): Promise<void> {
  const path = `/metadata/${encodeURIComponent(textIn(info, 'name'))}?${parameters}`
  warn(await client.ask('PUT', path, { body: info }))
}

/** Entities to be dropped, with the number of their documents. */
async function withDocuments(
  client: Client,
  changes: readonly Change[],
  present: Entities,
): Promise<readonly Change[]> {
  const counted: Change[] = []
  for (const change of changes) {
    const { kind, entity } = change
    const documents = kind === 'drop entity' ? await countDocuments(client, entity, present) : 0
    if (documents === 0) counted.push(change)
    else {
      // Row rules may hide further documents.
      const many = documents === 'unknown' ? 'number unknown' : `at least ${documents}`
      counted.push({
        ...change,
        documents,
        losses: [`the entity ${entity} with all its documents (${many})`],
      })
    }
  }
  return counted
}

/**
 * Zero where every version is disabled already, as after an interruption: to drop the entity is one request then, which
 * the service refuses if there are documents.
 */
async function countDocuments(
  client: Client,
  entity: string,
  present: Entities,
): Promise<number | 'unknown'> {
  const body = { projection: { field: '_id' }, range: [0, 0] }
  const enabled = [...present.get(entity)!.schemas].filter(
    ([, schema]) => member(schema['status'], 'value') !== 'disabled',
  )
  for (const [version] of enabled) {
    try {
      const answer = await client.ask('POST', dataPath('find', entity, version), { body })
      return Number(member(answer, 'matchCount'))
    } catch (error) {
      if (!(error instanceof Exit)) throw error
    }
  }
  return enabled.length === 0 ? 0 : 'unknown'
}

function refuseFilledEntities(changes: readonly Change[]): void {
  const filled = changes.filter(({ documents = 0 }) => documents !== 0)
  if (filled.length === 0) return
  const lines = filled.map(({ entity, documents }) =>
    documents === 'unknown'
      ? `  ${entity}: you may not read whether it has documents`
      : `  ${entity}: ${documents} documents`,
  )
  const advice = 'these entities have documents; --delete-documents deletes them, too. Nothing was changed:'
  throw new Exit(EXIT.conflict, [advice, ...lines].join('\n'))
}

/** Clients rely on a version as it is. */
function refuseChangedVersions(changes: readonly Change[]): void {
  const changed = changes.filter(
    ({ kind, version = '' }) => kind === 'change version' && !version.includes('SNAPSHOT'),
  )
  if (changed.length === 0) return
  const lines = changed.map(({ entity, version, paths }) => `  ${entity} ${version}: ${paths.join(', ')}`)
  const advice = 'a version does not change; add a file for a new version instead:'
  throw new Exit(EXIT.conflict, [advice, ...lines].join('\n'))
}

/** New entities and versions, each with its entity info. Versions that exist are not sent again. */
function newVersions(wanted: Entities, present: Entities, changes: readonly Change[]): readonly JsonObject[] {
  const kinds = ['add entity', 'add version', 'change version']
  const names = new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ entity }) => entity))
  return [...names].flatMap((name) => {
    const { info, schemas } = wanted.get(name)!
    const known = present.get(name)?.schemas
    const isNew = ([version]: readonly [string, JsonObject]): boolean =>
      known?.has(version) !== true ||
      changes.some(
        (each) => each.kind === 'change version' && each.entity === name && each.version === version,
      )
    return [...schemas].filter(isNew).map(([, schema]): JsonObject => ({ entityInfo: info, schema }))
  })
}

interface Rehearsal {
  readonly wanted: Entities
  readonly changes: readonly Change[]
  readonly early: readonly Change[]
  readonly documents: readonly JsonObject[]
  readonly strict: string
}

/**
 * The service answers what would happen to entity info and versions. It is not asked about what only the changes before
 * it make possible. One that has no dry run yet leaves it at the list of changes.
 */
async function rehearse(
  client: Client,
  { wanted, changes, early, documents, strict }: Rehearsal,
): Promise<void> {
  const enabled = new Set(early.map(({ entity }) => entity))
  if (enabled.size > 0)
    process.stderr.write(`not checked, because a version is enabled first: ${[...enabled].join(', ')}\n`)
  // versions may refer to each other, so they are checked together or not at all
  const sent = documents.some(({ entityInfo }) => enabled.has(textIn(entityInfo, 'name'))) ? [] : documents
  const infos = changes.flatMap(({ kind, entity }) =>
    kind === 'change info' && !enabled.has(entity) ? [wanted.get(entity)!.info] : [],
  )
  const names = new Set(documents.map(({ entityInfo }) => textIn(entityInfo, 'name')))
  const parameters = `${strict}&dryRun=true`
  try {
    if (sent.length > 0) warn(await client.ask('PUT', `/metadata?${parameters}`, { body: sent }))
    for (const info of infos) if (!names.has(textIn(info, 'name'))) await changeInfo(client, info, parameters)
  } catch (error) {
    if (!(error instanceof Exit) || !error.message.includes('no parameter "dryRun"')) throw error
  }
  process.stderr.write('nothing was changed\n')
}

/** Warnings, and the impact report of a dry run: all that an answer has besides the metadata. */
function warn(answer: Json): void {
  for (const each of isArray(answer) ? answer : [answer]) {
    if (!isObject(each)) continue
    const { entityInfo: _, schema: __, ...report } = each
    if (Object.keys(report).length > 0) process.stderr.write(`${JSON.stringify(report, undefined, 2)}\n`)
  }
}

async function confirm(changes: readonly Change[], isAgreed: boolean): Promise<void> {
  const losses = changes.flatMap((change) => change.losses)
  if (losses.length === 0 || isAgreed) return
  const question = `this removes ${losses.join(', ')}`
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Exit(EXIT.usage, `${question}; nothing was changed, --yes agrees to it`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${question}. Go on? [y/N] `)
  lines.close()
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new Exit(EXIT.failed, 'nothing was changed')
}

async function setStatus(client: Client, entity: string, version: string, status: string): Promise<void> {
  const path = `/metadata/${encodeURIComponent(entity)}/${encodeURIComponent(version)}/${encodeURIComponent(status)}`
  await client.ask('PUT', path)
}

/**
 * Every version must be disabled first, and none the default. A repeated command goes on after an interruption. Where the
 * service refuses, because of documents that the caller cannot see, the versions are enabled again.
 */
async function drop(client: Client, entity: string, deletesDocuments: boolean): Promise<void> {
  const path = `/metadata/${encodeURIComponent(entity)}`
  const answer = await client.ask('GET', path)
  const versions = (isArray(answer) ? answer : []) as unknown as readonly VersionRecord[]
  await client.ask('DELETE', `${path}/default`)
  const enabled = versions.filter(({ status }) => status !== 'disabled')
  for (const { version } of enabled) await setStatus(client, entity, version, 'disabled')
  try {
    await client.ask('DELETE', deletesDocuments ? `${path}?documents=delete` : path)
  } catch (error) {
    for (const { version, status } of enabled) await setStatus(client, entity, version, status)
    const usual = versions.find(({ defaultVersion }) => defaultVersion)
    if (usual) await client.ask('POST', `${path}/${encodeURIComponent(usual.version)}/default`)
    throw error
  }
}

interface VersionRecord {
  readonly version: string
  readonly status: string
  readonly defaultVersion: boolean
}
