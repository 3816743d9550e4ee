/** All metadata documents in a directory of JSON files, or in one file. */
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { SourceError } from '../source-error.ts'
import { textMember } from '../text-member.ts'

/** Entity info and schemas may be in files of their own; they are put together by the name of the entity. */
export async function readMetadataFiles(path: string): Promise<readonly JsonObject[]> {
  const parts: JsonObject[] = []
  for (const file of await filesAt(path)) {
    const content = await parsedFile(file)
    for (const each of isArray(content) ? content : [content]) {
      if (!isMetadata(each)) {
        throw new SourceError(
          'invalid',
          `${file} is not metadata: it needs "entityInfo" and "schema", or the members of one of them`,
        )
      }
      parts.push(each)
    }
  }
  if (parts.length === 0) throw new SourceError('invalid', `${path} contains no .json files`)
  return assembled(parts)
}

async function filesAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path, { recursive: true })
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(path, name))
  } catch (error) {
    throw new SourceError('invalid', `${path} cannot be read: ${(error as Error).message}`, error)
  }
}

const MAX_DEPTH = 200

async function parsedFile(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8')
  try {
    return parseJson(text.replace(/^\uFEFF/, ''), MAX_DEPTH)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new SourceError('broken', `${file}: ${error.message.replace('the body', 'it')}`, error)
  }
}

function isMetadata(value: Json): value is JsonObject {
  return isWhole(value) || isSchema(value) || isInfo(value)
}

function isWhole(value: Json): boolean {
  return isObject(value) && (isObject(value['entityInfo']) || isObject(value['schema']))
}

function isSchema(value: Json): boolean {
  return isObject(value) && isObject(value['version']) && isObject(value['fields'])
}

function isInfo(value: Json): boolean {
  return isObject(value) && typeof value['name'] === 'string' && isObject(value['datastore'])
}

/** Whole documents, made of the parts with the same entity. */
function assembled(parts: readonly JsonObject[]): readonly JsonObject[] {
  const whole = parts.map((part) =>
    isWhole(part) ? part : isSchema(part) ? { schema: part } : { entityInfo: part },
  )
  const infos = new Map(
    whole.flatMap(({ entityInfo }) => (entityInfo ? [[nameOf(entityInfo), entityInfo]] : [])),
  )
  return whole.flatMap((document): readonly JsonObject[] => {
    const { schema, entityInfo = infos.get(nameOf(schema)) } = document
    if (!schema) return []
    if (entityInfo) return [{ entityInfo, schema }]
    throw new SourceError('invalid', `there is a schema of ${nameOf(schema)}, but no entity info`)
  })
}

function nameOf(part: Json | undefined): string {
  return textMember(part, 'name')
}
