/** Creates the versions of a list of metadata documents in one transaction. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, member, pointer } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import { printMetadataDocument } from '../../metadata/documents/metadata-document.ts'
import type { Finding } from '../../metadata/finding.ts'
import { type ListedDocument, documentsIn } from '../../metadata/propose-all.ts'
import { readMetadata } from '../../metadata/proposals.ts'
import type { Registry } from '../../metadata/registry.ts'
import { type Replacing, asMetadata, requireForReplacing } from './replace-permission.ts'
import { refuseUnknownKeys } from './strict.ts'
import { knownFindings, warningsIn, withWarnings } from './warnings.ts'

interface CreateAllOptions extends Replacing {
  readonly isStrict?: boolean
}

/** Answers with the metadata documents in the order of the list, each with its warnings. */
export async function createAll(caller: Caller, body: Json, options: CreateAllOptions): Promise<Json> {
  const { registry, isStrict = false } = options
  const documents = documentsIn(body)
  spend(stepsFor(registry, body, documents))
  for (const [i, each] of documents.entries()) {
    const at = pointer('', i)
    if (isStrict) refuseUnknownKeys(readMetadata(each, { ...options, at }), { within: at })
  }
  const sent = documents.map((each) => ({ body: each, written: asMetadata }))
  await requireForReplacing(caller, sent, options)
  refuseLargeResponse(documents)
  const before = new Map(entitiesIn(documents).map((name) => [name, knownFindings(registry, name)]))
  const listed = await registry.createAll(caller.principal, body)
  const found = new Map([...before].map(([name, known]) => [name, warningsIn(registry, name, known)]))
  return listed.map((each) => answerOf(each, listed, { registry, found: found.get(each.entity) ?? [] }))
}

/** The response repeats the entity info with each version. */
function refuseLargeResponse(documents: readonly Json[]): void {
  const byEntity = Map.groupBy(documents, (each) => member(member(each, 'entityInfo'), 'name'))
  let characters = JSON.stringify(documents).length
  for (const group of byEntity.values()) {
    characters += group.length * (JSON.stringify(member(group.at(-1), 'entityInfo')) ?? '').length
  }
  if (characters <= MAX_RESPONSE_CHARACTERS) return
  const problem =
    'the response would be too large, because it repeats the entity info with each version; send fewer versions at once'
  throw new ServiceError('crud:LimitExceeded', problem)
}

const MAX_RESPONSE_CHARACTERS = 50_000_000

/**
 * Lint takes about one step per character of the documents, before and after. For each changed entity, the texts of
 * all versions are searched for references to it.
 */
function stepsFor(registry: Registry, body: Json, documents: readonly Json[]): number {
  const written = JSON.stringify(body).length
  if (registry.epoch() < 0) return written
  const sizes = new Map(registry.names().map((name) => [name, registry.sizeOf(name)]))
  const all = sizes.values().reduce((sum, size) => sum + size, 0)
  const linted = entitiesIn(documents).reduce((sum, name) => sum + (sizes.get(name) ?? 0), written)
  return linted + Math.ceil((documents.length * all) / CHARACTERS_PER_STEP)
}

/** A search compares many characters in the time of one step. */
const CHARACTERS_PER_STEP = 200

function entitiesIn(documents: readonly Json[]): readonly string[] {
  const names = documents.map((each) => member(member(each, 'entityInfo'), 'name'))
  return [...new Set(names.filter((name) => typeof name === 'string'))]
}

/** Warnings about a version belong to its document, others to the last document of the entity. */
function answerOf(
  { entity, version, warnings }: ListedDocument,
  listed: readonly ListedDocument[],
  { registry, found }: { readonly registry: Registry; readonly found: readonly Finding[] },
): JsonObject {
  const document = printMetadataDocument(registry.infoOf(entity), registry.documentOf(entity, version))
  if (found.length === 0) return withWarnings(document, warnings)
  const own = listed.filter((each) => each.entity === entity).map((each) => each.version)
  const isLast = own.at(-1) === version
  const isHere = (finding: Finding): boolean =>
    finding.version === version || (isLast && !own.includes(finding.version ?? ''))
  return withWarnings(document, [...warnings, ...found.filter(isHere)])
}
