/** The metadata of all entities, in files or in a service: entity info, and the schema of each version. */
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import type { Client } from '../client/client.ts'
import { textIn } from '../client/failure.ts'
import { EXIT, Exit } from '../exit.ts'
import { plainInfo, plainSchema } from './plain.ts'

export interface EntityFiles {
  readonly info: JsonObject
  /** Version → schema. */
  readonly schemas: ReadonlyMap<string, JsonObject>
}

export type Entities = ReadonlyMap<string, EntityFiles>

/** Every service makes it by itself, so it is managed by files only where there is one for it. */
export const BUILT_IN = 'savedSearch'

const INFO = 'entity.json'
const MAX_DEPTH = 64

export async function entitiesOf(client: Client): Promise<Entities> {
  const names = listIn(await client.ask('GET', '/metadata'), 'entities')
  const entities = new Map<string, EntityFiles>()
  for (const name of names.filter((each) => typeof each === 'string')) {
    const path = `/metadata/${encodeURIComponent(name)}`
    const versions = await client.ask('GET', path)
    const schemas = new Map<string, JsonObject>()
    let info: JsonObject = { name }
    for (const each of isArray(versions) ? versions : []) {
      const version = textIn(each, 'version')
      const document = await client.ask('GET', `${path}/${encodeURIComponent(version)}`)
      schemas.set(version, plainSchema(objectIn(document, 'schema')))
      info = plainInfo(objectIn(document, 'entityInfo'))
    }
    entities.set(name, { info, schemas })
  }
  return entities
}

/** `DIR/ENTITY/entity.json`, and `DIR/ENTITY/VERSION.json` for each version. Anything else there is a mistake. */
export function entitiesIn(directory: string): Entities {
  const entities = new Map<string, EntityFiles>()
  for (const name of listed(directory)) {
    const folder = join(directory, name)
    if (!statSync(folder).isDirectory()) throw problem(`${folder} is no directory of an entity`)
    const files = listed(folder)
    if (!files.includes(INFO)) throw problem(`${folder} has no ${INFO}`)
    const stray = files.find((file) => !file.endsWith('.json'))
    if (stray !== undefined) throw problem(`${join(folder, stray)} is neither ${INFO} nor VERSION.json`)
    const schemas = files
      .filter((file) => file !== INFO)
      .map((file) => [file.slice(0, -'.json'.length), schemaIn(join(folder, file), name)] as const)
    const info = infoIn(join(folder, INFO), name)
    if (schemas.length === 0) throw problem(`${folder} has no version, such as 1.0.0.json`)
    entities.set(name, { info, schemas: new Map(schemas) })
  }
  return entities
}

function infoIn(path: string, entity: string): JsonObject {
  const info = jsonIn(path)
  if (member(info, 'name') !== entity) throw problem(`${path}: "name" must be "${entity}", as its directory`)
  return plainInfo(info)
}

function schemaIn(path: string, entity: string): JsonObject {
  const schema = jsonIn(path)
  if (member(schema, 'name') !== entity)
    throw problem(`${path}: "name" must be "${entity}", as its directory`)
  const version = member(member(schema, 'version'), 'value')
  if (typeof version !== 'string' || !path.endsWith(`/${version}.json`))
    throw problem(`${path}: "value" of "version" must be the version in the name of the file`)
  return plainSchema(schema)
}

function jsonIn(path: string): JsonObject {
  try {
    const value = parseJson(readFileSync(path, 'utf8'), MAX_DEPTH)
    if (isObject(value)) return value
  } catch (error) {
    throw problem(`${path}: ${(error as Error).message.replace('the body', 'the file')}`)
  }
  throw problem(`${path} must be a JSON object`)
}

/** Hidden files, such as those of git, are left alone. */
function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith('.') && name !== 'README.md')
      .sort()
  } catch (error) {
    throw problem(`${directory} cannot be read: ${(error as Error).message}`)
  }
}

interface WrittenFiles {
  readonly changed: readonly string[]
  /** Files of entities and versions that the service does not have: removed there, or new here. */
  readonly surplus: readonly string[]
}

/** Whatever else is in the directory stays as it is. */
export function writeEntities(directory: string, entities: Entities): WrittenFiles {
  const wanted = new Map<string, string>()
  for (const [name, { info, schemas }] of entities) {
    wanted.set(join(name, INFO), textOf(info))
    for (const [version, schema] of schemas) wanted.set(join(name, `${version}.json`), textOf(schema))
  }
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  const present = listed(directory).flatMap((name) => {
    const folder = join(directory, name)
    return statSync(folder).isDirectory() ? listed(folder).map((file) => join(name, file)) : []
  })
  const changed: string[] = []
  for (const [path, text] of wanted) {
    const file = join(directory, path)
    if (present.includes(path) && fileText(file) === text) continue
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o755 })
    replaceFile(file, text)
    changed.push(file)
  }
  const surplus = present.filter((path) => !wanted.has(path)).map((path) => join(directory, path))
  return { changed, surplus: surplus.filter(isOfEntity) }
}

/** The directory may also contain files that are no metadata, if it is that of a project. */
function isOfEntity(path: string): boolean {
  const [folder, file] = [dirname(path), basename(path)]
  if (file !== INFO && !VERSION_FILE.test(file)) return false
  try {
    return member(jsonIn(join(folder, INFO)), 'name') === basename(folder)
  } catch {
    return false
  }
}

const VERSION_FILE = /^\d+\.\d+\.\d+(-[\w.-]+)?\.json$/

/** Also removes directories that are empty then. */
export function removeFiles(paths: readonly string[]): void {
  for (const path of paths) rmSync(path)
  for (const folder of new Set(paths.map((path) => dirname(path))))
    if (readdirSync(folder).length === 0) rmdirSync(folder)
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Exit(EXIT.failed, `${file} cannot be read: ${(error as Error).message}`)
  }
}

/** An interruption leaves at most a hidden file, which nobody takes for metadata. */
function replaceFile(file: string, text: string): void {
  const next = join(dirname(file), `.${basename(file)}.next`)
  try {
    writeFileSync(next, text, { mode: 0o644 })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw new Exit(EXIT.failed, `${file} cannot be written: ${(error as Error).message}`)
  }
}

function textOf(value: Json): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function listIn(value: Json, name: string): readonly Json[] {
  const list = member(value, name)
  return isArray(list) ? list : []
}

function objectIn(value: Json, name: string): JsonObject {
  const object = member(value, name)
  return isObject(object) ? object : {}
}

function problem(message: string): Exit {
  return new Exit(EXIT.config, message)
}
