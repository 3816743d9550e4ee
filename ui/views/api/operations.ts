/** The operations of the service, as its OpenAPI document describes them. */
import { asList, asObject } from '../../client/data-client.ts'
import { type Json, type JsonObject, printJson, textOf } from '../../client/json.ts'

export interface Operation {
  readonly id: string
  readonly method: string
  /** A template such as `/data/find/{entity}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** An example of the body as text; undefined where there is none. */
  readonly body: string | undefined
  /** The media type of the body. */
  readonly bodyType: string
}

export interface Parameter {
  readonly name: string
  readonly place: 'path' | 'query'
  readonly description: string
  readonly example: string
}

export function operationsIn(document: Json): readonly Operation[] {
  return Object.entries(asObject(asObject(document)['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, value]) => operationOf(path, method, asObject(value))),
  )
}

function operationOf(path: string, method: string, value: JsonObject): Operation {
  const { operationId, tags, summary, description, parameters, requestBody } = value
  return {
    id: textOf(operationId),
    method: method.toUpperCase(),
    path,
    tag: textOf(asList(tags)[0]),
    summary: textOf(summary),
    description: textOf(description),
    parameters: asList(parameters).map(asObject).flatMap(parameterOf),
    body: requestBody === undefined ? undefined : bodyExample(asObject(requestBody)),
    bodyType: Object.keys(asObject(asObject(requestBody)['content']))[0] ?? JSON_TYPE,
  }
}

export const JSON_TYPE = 'application/json'

function parameterOf({ name, in: place, description, example }: JsonObject): readonly Parameter[] {
  if (place !== 'path' && place !== 'query') return []
  return [{ name: textOf(name), place, description: textOf(description), example: textOf(example) }]
}

function bodyExample({ content }: JsonObject): string {
  const media = asObject(Object.values(asObject(content))[0])
  return printJson(media['example'] ?? {}, 2)
}

/** The address with values for its parameters; undefined while one of the path is missing. */
export function addressOf(
  { path, parameters }: Operation,
  values: Readonly<Record<string, string>>,
): string | undefined {
  const missing = parameters.some(({ name, place }) => place === 'path' && (values[name] ?? '') === '')
  if (missing) return undefined
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = parameters.flatMap(({ name, place }): [string, string][] => {
    const value = values[name] ?? ''
    return place === 'query' && value !== '' ? [[name, value]] : []
  })
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query).toString()}`
}
