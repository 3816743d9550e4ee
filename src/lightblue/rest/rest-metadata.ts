/** All metadata documents of a running Lightblue, by its metadata routes. */
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { SourceError } from '../source-error.ts'
import type { RestClient } from './rest-client.ts'
import { textMember } from '../text-member.ts'

export async function readRestMetadata(client: RestClient): Promise<readonly JsonObject[]> {
  const documents: JsonObject[] = []
  for (const entity of textsIn(member(await answered(client, ''), 'entities'))) {
    const name = encodeURIComponent(entity)
    const versions = await answered(client, `/${name}`)
    for (const version of isArray(versions) ? versions : []) {
      const value = member(version, 'version')
      if (typeof value !== 'string') throw unexpected(`/${entity}`)
      const document = await answered(client, `/${name}/${encodeURIComponent(value)}`)
      if (!isObject(document)) throw unexpected(`/${entity}/${value}`)
      documents.push(document)
    }
  }
  return documents
}

/** Errors of the metadata routes have the status 200 and are recognised by their `objectType`. */
async function answered(client: RestClient, path: string): Promise<Json> {
  const answer = await client('GET', path)
  if (member(answer, 'objectType') !== 'error') return answer
  const [code, message] = [textMember(answer, 'errorCode'), textMember(answer, 'msg')]
  throw new SourceError(
    'failed',
    `the metadata of ${path === '' ? 'all entities' : path} cannot be read: ${message} (${code})`,
  )
}

function textsIn(value: Json | undefined): readonly string[] {
  if (!isArray(value)) throw unexpected('')
  return value.filter((each) => typeof each === 'string')
}

function unexpected(path: string): SourceError {
  return new SourceError(
    'failed',
    `the answer to GET ${path === '' ? '/' : path} is not that of Lightblue's metadata routes`,
  )
}
